#!/usr/bin/env python3
"""An agent for `agentd new --model`: a chat server answers the message on standard input."""

import json
import os
import sys
import urllib.request

url = os.environ.get("CHAT_URL", "http://127.0.0.1:11434/v1/chat/completions")
headers = {"Content-Type": "application/json"}
if key := os.environ.get("CHAT_KEY"):
    headers["Authorization"] = f"Bearer {key}"
body = {
    "model": os.environ.get("CHAT_MODEL", "qwen3-coder"),
    "messages": [{"role": "user", "content": sys.stdin.read()}],
}
request = urllib.request.Request(url, json.dumps(body).encode(), headers)
try:
    with urllib.request.urlopen(request) as answer:
        print(json.load(answer)["choices"][0]["message"]["content"])
except (OSError, ValueError, LookupError, TypeError) as error:
    sys.exit(f"{url} gave no answer: {error!r}")
