'use strict';
const { commands } = require('vscode');

/** The window is up: show what the person came for, and the text behind it. */
exports.activate = async () => {
  await commands.executeCommand('vmaLens.openExample');
  await commands.executeCommand('vmaLens.revealLine');
};
