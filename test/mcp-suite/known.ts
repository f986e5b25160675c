// Checks that lorekeep does not pass, each with its reason: what they ask for is not offered.

/** Of scenarios, or of checks in them. */
const byReason: Readonly<Record<string, RegExp>> = {
  'it asks for tools, resources and prompts of the suite, which a server for tests has':
    /^(tools-call-(?!with-logging)|elicitation-|json-schema-2020-12|input-required-result-|prompts-get-|resources-(read|templates-read)|server-stateless\/.*(capability|independent-requests|no-log-without))/,
  'no argument of a tool is repeated in a header': /^http-custom-header-server-validation/,
  "nobody is told of the log: errors are the host's":
    /^(logging-set-level|tools-call-with-logging)/,
  'ids are not completed: the tool list finds them': /^completion-complete/,
  'nothing can be subscribed to: nothing is kept between requests':
    /^(resources-(un)?subscribe|server-stateless\/.*(subscription-ack|tags-subscription-id))/,
  'the extension for tasks is not offered: the tool job does what it would': /^tasks-/,
}

export const reasons = Object.keys(byReason)

/** Why a check fails, where it is known. */
export function known(check: string): string | undefined {
  return Object.entries(byReason).find(([, checks]) => checks.test(check))?.[0]
}

/** What is about headers, statuses and addresses. */
export const ofHttpAlone = /^(dns-rebinding|http-|server-stateless|server-sse-|server-session)/
