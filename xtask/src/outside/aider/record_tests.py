"""Runs aider's tests of its edit formats, and records what its coders are given and what they make of it.

The folder of a checkout is the one argument. The coders and the tests are aider's; what they would need of the rest of that
program to hold a chat is stood in for. Prints one JSON object a line: records of calls, and the end of each test.
"""

import importlib
import json
import os
import pathlib
import re
import sys
import tempfile
import types
import unittest

CHECKOUT = pathlib.Path(sys.argv[1]).resolve()
TESTS = ["test_editblock", "test_udiff", "test_wholefile", "test_find_or_blocks"]

answers = sys.stdout
sys.stdout = sys.stderr
state = {"test": None, "depth": 0}


def write(**record):
    answers.write(json.dumps({"test": state["test"], **record}) + "\n")


def recorded(function, kind, names):
    """Wraps a function so that its arguments and its result are recorded, unless another recorded one calls it."""

    def wrapper(*arguments, **named):
        state["depth"] += 1
        result = error = None
        try:
            made = function(*arguments, **named)
            result = made if kind == "replace" else list(made)
        except Exception as fault:
            error = fault
        finally:
            state["depth"] -= 1
        if state["depth"] == 0:
            given = dict(zip(names, arguments))
            write(kind=kind, **given, result=result, error=None if error is None else type(error).__name__)
        if error is not None:
            raise error
        return result

    return wrapper


class InputOutput:
    def __init__(self, yes=None, dry_run=False, **_named):
        self.yes, self.dry_run = yes, dry_run

    def read_text(self, path, silent=False):
        return pathlib.Path(path).read_text(encoding="utf-8")

    def write_text(self, path, text):
        if not self.dry_run:
            pathlib.Path(path).write_text(text, encoding="utf-8")

    def tool_output(self, *_arguments, **_named):
        pass

    tool_warning = tool_error = tool_output


class Coder:
    """Stands in for the base class: it has the files of a chat and takes one reply."""

    edit_format = None
    fences = fence = None
    partial_response_content = ""

    def __init__(self, main_model=None, io=None, fnames=(), dry_run=False, **_named):
        self.io, self.dry_run = io, dry_run
        paths = [pathlib.Path(name).resolve() for name in fnames]
        self.root = str(paths[0].parent if paths else pathlib.Path.cwd())
        self.abs_fnames = {str(path) for path in paths}
        self.shell_commands = []

    @classmethod
    def create(cls, main_model, edit_format, **named):
        kinds = [kind for kind in Coder.__subclasses__() if kind.edit_format == edit_format]
        return kinds[0](main_model=main_model, **named)

    def abs_root_path(self, path):
        return str((pathlib.Path(self.root) / path).resolve())

    def get_rel_fname(self, path):
        return os.path.relpath(path, self.root)

    def get_inchat_relative_files(self):
        return sorted(self.get_rel_fname(path) for path in self.abs_fnames)

    def get_multi_response_content_in_progress(self, final=False):
        return self.partial_response_content.rstrip()

    def choose_fence(self):
        lines = [line for path in self.abs_fnames for line in self.io.read_text(path).splitlines()]
        free = [pair for pair in self.fences if not any(line.startswith(pair) for line in lines)]
        self.fence = (free or self.fences)[0]

    def apply_edits_dry_run(self, edits):
        return edits

    def is_allowed(self, path):
        full = self.abs_root_path(path)
        if full not in self.abs_fnames and self.io.yes:
            pathlib.Path(full).touch()
            self.abs_fnames.add(full)
        return full in self.abs_fnames

    def files(self):
        paths = set(self.abs_fnames)
        if pathlib.Path(self.root) == pathlib.Path.cwd():
            paths |= {str(path) for path in pathlib.Path(self.root).iterdir() if path.is_file()}
        return {self.get_rel_fname(path): self.io.read_text(path) for path in sorted(paths) if os.path.exists(path)}

    def apply_updates(self):
        before, chat, fence = self.files(), self.get_inchat_relative_files(), self.fence[0]
        state["depth"] += 1
        edited, error = set(), None
        try:
            edits = [edit for edit in self.apply_edits_dry_run(self.get_edits()) if self.is_allowed(edit[0])]
            edited = {edit[0] for edit in edits}
            self.apply_edits(edits)
        except ValueError as fault:
            error = type(fault).__name__
        finally:
            state["depth"] -= 1
        write(
            kind="reply", format=self.edit_format, reply=self.partial_response_content, chat=chat, fence=fence, before=before,
            after=self.files(), is_dry_run=self.dry_run, error=error,
        )
        return edited

    def run(self, with_message=None):
        self.send([])
        return self.apply_updates()


class ChdirTemporaryDirectory:
    def __enter__(self):
        self.before, self.folder = os.getcwd(), tempfile.TemporaryDirectory()
        os.chdir(self.folder.name)
        return self.folder.name

    def __exit__(self, *_fault):
        os.chdir(self.before)
        self.folder.cleanup()


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, made)
    return made


def load():
    """Imports the coders below packages of the same names that import nothing else."""
    package = module("aider", __path__=[str(CHECKOUT / "aider")])
    module("aider.coders", __path__=[str(CHECKOUT / "aider/coders")])
    source = (CHECKOUT / "aider/coders/base_coder.py").read_text(encoding="utf-8")
    fences = {}
    wanted = re.search(r"^def wrap_fence\(.*?^all_fences = \[.*?^\]$", source, re.MULTILINE | re.DOTALL)
    exec(wanted.group(0), fences)
    Coder.fences, Coder.fence = fences["all_fences"], fences["all_fences"][0]
    module("aider.coders.base_coder", Coder=Coder, all_fences=fences["all_fences"])
    module("aider.dump", dump=lambda *_values: None)
    module("aider.io", InputOutput=InputOutput)
    module("aider.models", Model=lambda name: name)
    nothing = {"GitTemporaryDirectory": None, "split_chat_history_markdown": None}
    module("aider.utils", ChdirTemporaryDirectory=ChdirTemporaryDirectory, **nothing)
    package.coders.Coder = Coder
    editblock, udiff, _whole = [
        importlib.import_module("aider.coders." + name)
        for name in ["editblock_coder", "udiff_coder", "wholefile_coder"]
    ]
    find = editblock.find_original_update_blocks
    editblock.find_original_update_blocks = recorded(find, "blocks", ["reply"])
    replace = editblock.replace_most_similar_chunk
    editblock.replace_most_similar_chunk = recorded(replace, "replace", ["whole", "part", "replacement"])
    udiff.find_diffs = recorded(udiff.find_diffs, "diffs", ["reply"])


class Result(unittest.TestResult):
    def startTest(self, test):
        super().startTest(test)
        state["test"] = test.id()

    def end(self, test, why):
        write(kind="end", why=why)

    def addSuccess(self, test):
        self.end(test, None)

    def addError(self, test, fault):
        self.end(test, f"{fault[0].__name__}: {fault[1]}"[:200])

    addFailure = addError


def main():
    load()
    os.chdir(CHECKOUT)
    sys.path.insert(0, str(CHECKOUT / "tests/basic"))
    for name in TESTS:
        unittest.defaultTestLoader.loadTestsFromName(name).run(Result())


main()
