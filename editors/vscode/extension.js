// The extension: starts `vlad lsp`, and shows what its commands answer.

const { ViewColumn, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

/** Runs the program of a document in a terminal, saved, as on the command line. */
async function run(uri) {
  const document = workspace.textDocuments.find((document) => document.uri.toString() === uri);
  if (document) {
    await document.save();
  }
  const { path, arguments: further } = settings();
  const file = client.protocol2CodeConverter.asUri(uri).fsPath;
  const terminal = window.terminals.find((terminal) => terminal.name === "vlad") ?? window.createTerminal("vlad");
  terminal.show(true);
  terminal.sendText([path, "run", ...further, file].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" "));
}

/** Carries out a command of the server. Derivatives are shown beside the program: they are programs, too. */
async function execute(command, args, next) {
  if (command === "vlad.run") {
    return run(args[0]);
  }
  const content = await next(command, args);
  if (command === "vlad.showDerivative" && typeof content === "string") {
    const document = await workspace.openTextDocument({ language: "vlad", content });
    await window.showTextDocument(document, { preview: true, viewColumn: ViewColumn.Beside });
  }
  return content;
}

function settings() {
  const configuration = workspace.getConfiguration("vlad");
  return { path: configuration.get("path"), arguments: configuration.get("arguments") };
}

function activate() {
  const { path, arguments: further } = settings();
  const server = { command: path, args: ["lsp", ...further] };
  const selector = [
    { language: "vlad", scheme: "file" },
    { language: "vlad", scheme: "untitled" },
  ];
  const middleware = { executeCommand: execute };
  client = new LanguageClient("vlad", "VLAD", server, { documentSelector: selector, middleware });
  return client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
