#!/usr/bin/env python3
"""A minimal agent: five variables in, one commit with the ready marker out."""

import json
import os
import subprocess
import sys


def log(level, message):
    print(json.dumps({"level": level, "message": message}), flush=True)


def main():
    try:
        number = os.environ["COCODE_ISSUE_NUMBER"]
        body_file = os.environ["COCODE_ISSUE_BODY_FILE"]
        marker = os.environ["COCODE_READY_MARKER"]
    except KeyError as missing:
        log("error", f"{missing} is not set")
        return 2

    log("info", f"Working on issue #{number}")
    with open(body_file, encoding="utf-8") as file:
        title = file.readline().strip()

    # The work of a real agent goes here.
    with open("CHANGES.txt", "a", encoding="utf-8") as file:
        file.write(f"#{number}: {title}\n")

    subprocess.run(["git", "add", "--all"], check=True)
    message = f"fix: issue #{number}\n\n{marker}"
    subprocess.run(["git", "commit", "--quiet", "--message", message], check=True)
    log("info", "Complete")
    return 0


if __name__ == "__main__":
    sys.exit(main())
