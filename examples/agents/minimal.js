#!/usr/bin/env node
// A minimal agent: five variables in, one commit with the ready marker out.
"use strict";

const { execFileSync } = require("node:child_process");
const fs = require("node:fs");

const log = (level, message) => console.log(JSON.stringify({ level, message }));

const { COCODE_ISSUE_NUMBER: number, COCODE_ISSUE_BODY_FILE: bodyFile, COCODE_READY_MARKER: marker } = process.env;
if (!number || !bodyFile || !marker) {
  log("error", "the five variables are not all set");
  process.exit(2);
}

log("info", `Working on issue #${number}`);
const title = fs.readFileSync(bodyFile, "utf8").split("\n", 1)[0];

// The work of a real agent goes here.
fs.appendFileSync("CHANGES.txt", `#${number}: ${title}\n`);

execFileSync("git", ["add", "--all"]);
execFileSync("git", ["commit", "--quiet", "--message", `fix: issue #${number}\n\n${marker}`]);
log("info", "Complete");
