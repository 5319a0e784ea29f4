// Runs one command in the current folder by `agentd call`, and ends as the command did. A command of which a change was not
// kept counts as failed: the tests expect that such a write fails at once.

import { spawnSync } from 'node:child_process'

const [network, shell, command] = process.argv.slice(2)
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
const folder = process.cwd()
const base = process.env.AGENTD_STATES + '/' + encodeURIComponent(folder)
const options = ['--json', '--workspace', folder, '--base', base, '--network', network]
const call = JSON.stringify({ command: `${shell} -c ${quoted(command)}` })
const { stdout, stderr } = spawnSync(process.env.AGENTD_PROGRAM!, ['call', ...options, 'executeCommand', call], {
  encoding: 'utf8',
})

let answer
try {
  answer = JSON.parse(stdout)
} catch {
  answer = { error: stdout + stderr }
}
const lost = (answer.warnings ?? []).filter((warning: string) => warning.startsWith('not kept'))
process.stdout.write(answer.stdout ?? '')
process.stderr.write([answer.error, answer.stderr, ...lost].filter(Boolean).join('\n'))
process.exitCode = answer.exitCode || (lost.length || answer.error ? 1 : 0)
