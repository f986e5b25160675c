// Small changes to compiled code, each of which some test should notice. What only words a message is
// left alone: arguments of errors, text, and notes to the terminal.

import ts from 'typescript'

export interface Mutant {
  readonly start: number
  readonly end: number
  readonly replacement: string
  /** What was done, in a word. */
  readonly kind: string
}

const comparisons: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '<<': '>>>',
  '>>': '<<',
  '>>>': '<<',
  '&': '|',
  '|': '&',
  '+=': '-=',
  '-=': '+=',
}

/** Larger ones are tables, of which one entry says little about the tests. */
const maxListed = 8

const wording = /^(?:describe|explain|note|noteError|refusal|progress)$/

export function mutantsOf(source: string): readonly Mutant[] {
  const file = ts.createSourceFile('mutated.js', source, ts.ScriptTarget.ES2023, true)
  const mutants: Mutant[] = []
  const add = (node: ts.Node, kind: string, replacement: string) => {
    mutants.push({ start: node.getStart(file), end: node.getEnd(), replacement, kind })
  }
  const textOf = (node: ts.Node) => node.getText(file)
  const negate = (condition: ts.Expression) => add(condition, 'negated', `!(${textOf(condition)})`)

  const visit = (node: ts.Node): void => {
    if (isLeftAlone(node)) return
    if (ts.isIfStatement(node) || ts.isWhileStatement(node)) negate(node.expression)
    else if (ts.isConditionalExpression(node)) negate(node.condition)
    else if (ts.isBinaryExpression(node)) mutateBinary(node)
    else if (ts.isExpressionStatement(node)) add(node, 'removed', ';')
    else if (ts.isBreakStatement(node) || ts.isContinueStatement(node)) add(node, 'removed', ';')
    else if (ts.isReturnStatement(node) && node.expression === undefined) add(node, 'removed', ';')
    else if (ts.isAwaitExpression(node) && !ts.isForOfStatement(node.parent)) {
      if (!ts.isExpressionStatement(node.parent)) add(node, 'not awaited', textOf(node.expression))
    } else if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, 'flipped', 'false')
    else if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, 'flipped', 'true')
    else if (ts.isNumericLiteral(node)) add(node, 'counted', `(${textOf(node)} + 1)`)
    else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      add(node, 'negated', `(${textOf(node.operand)})`)
    }
    ts.forEachChild(node, visit)
  }

  const mutateBinary = (node: ts.BinaryExpression): void => {
    const operator = textOf(node.operatorToken)
    if (operator === '??') {
      add(node, 'replaced', textOf(node.left))
      return
    }
    const isText = [node.left, node.right].some(
      (side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side),
    )
    if (operator === '+' && !isText) add(node.operatorToken, 'replaced', '-')
    const other = comparisons[operator]
    if (other !== undefined) add(node.operatorToken, 'replaced', other)
  }

  ts.forEachChild(file, visit)
  return mutants
}

function isLeftAlone(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return true
  if (ts.isTemplateExpression(node)) return true
  if (ts.isArrayLiteralExpression(node)) return node.elements.length > maxListed
  if (ts.isNewExpression(node)) return /Error$/.test(node.expression.getText())
  if (ts.isCallExpression(node)) return wording.test(node.expression.getText())
  // Helpers of the compiler, such as those of `using`.
  if (ts.isVariableDeclaration(node)) return node.name.getText().startsWith('__')
  // A directive, such as 'use strict'.
  return ts.isExpressionStatement(node) && ts.isStringLiteral(node.expression)
}
