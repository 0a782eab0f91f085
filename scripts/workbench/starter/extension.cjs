'use strict';
const { commands } = require('vscode');

/** The window is up: show what the person came for. */
exports.activate = () => commands.executeCommand('vmaLens.openExample');
