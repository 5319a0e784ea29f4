"""Applies replies with the coders of the package aider-chat, without a model and without the rest of that program.

Reads one JSON object a line (format, path, content, reply) and answers each with one (content, error).
"""

import importlib
import importlib.util
import json
import pathlib
import sys
import tempfile
import types


class Files:
    """The part of aider's input and output that its coders use to reach files."""

    def read_text(self, path, silent=False):
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()

    def write_text(self, path, text):
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def tool_output(self, *_arguments, **_named):
        pass

    tool_warning = tool_error = tool_output


class Coder:
    """Stands in for the base class, which would start a chat."""

    fence = ("```", "```")

    def __init__(self, root, path, reply):
        self.io, self.root = Files(), pathlib.Path(root)
        self.partial_response_content = reply
        self.shell_commands = []
        self.path = path
        self.abs_fnames = {str(self.root / path)}

    def abs_root_path(self, path):
        return str((self.root / path).resolve())

    def get_inchat_relative_files(self):
        return [self.path]

    def get_rel_fname(self, path):
        return str(pathlib.Path(path).relative_to(self.root))


def load():
    """Imports the coders below a package of the same name that imports nothing else."""
    # Finding the package does not run it.
    folder = pathlib.Path(importlib.util.find_spec("aider").origin).parent
    aider = types.ModuleType("aider")
    aider.__path__ = [str(folder)]
    sys.modules["aider"] = aider
    package = types.ModuleType("aider.coders")
    package.__path__ = [str(folder / "coders")]
    base = types.ModuleType("aider.coders.base_coder")
    base.Coder = Coder
    utils = types.ModuleType("aider.utils")
    utils.GitTemporaryDirectory = None
    utils.split_chat_history_markdown = None
    dump = types.ModuleType("aider.dump")
    dump.dump = lambda *_values: None
    for name, module in [("coders", package), ("utils", utils), ("dump", dump)]:
        sys.modules["aider." + name] = module
        setattr(aider, name, module)
    sys.modules["aider.coders.base_coder"] = base

    def coder(module, name):
        return getattr(importlib.import_module("aider.coders." + module), name)

    return {
        "search_replace": coder("editblock_coder", "EditBlockCoder"),
        "unified_diff": coder("udiff_coder", "UnifiedDiffCoder"),
        "begin_patch": coder("patch_coder", "PatchCoder"),
    }


def apply(coder, case):
    with tempfile.TemporaryDirectory() as root:
        path = pathlib.Path(root).resolve() / case["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(case["content"].encode())
        error = None
        try:
            chat = coder(path.parents[len(pathlib.PurePosixPath(case["path"]).parents) - 1], case["path"], case["reply"])
            chat.apply_edits(chat.get_edits())
        except Exception as fault:
            error = str(fault)[:200] or type(fault).__name__
        content = path.read_bytes().decode(errors="replace") if path.exists() else ""
        return {"content": content, "error": error}


def main():
    answers, sys.stdout = sys.stdout, sys.stderr
    coders = load()
    for line in sys.stdin:
        case = json.loads(line)
        answers.write(json.dumps(apply(coders[case["format"]], case)) + "\n")
        answers.flush()


main()
