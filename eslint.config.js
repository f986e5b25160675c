import tseslint from 'typescript-eslint'

export default tseslint.config(
  {
    // The last is AssemblyScript.
    ignores: ['dist', '.tap', 'node_modules', 'benchmarks/node_modules', 'src/**/assembly'],
  },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: {
      parserOptions: { project: ['./tsconfig.json', './src/inspector/tsconfig.json'] },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          // tap waits for a subtest by itself.
          allowForKnownSafePromises: [
            { from: 'package', name: 'PromiseWithSubtest', package: '@tapjs/core' },
          ],
        },
      ],
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
    },
  },
  {
    files: ['src/**', 'adapters/**'],
    ignores: ['src/json-text.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'JSON', property: 'parse', message: 'parseJson() keeps keys that V8 confuses.' },
      ],
    },
  },
)
