"""Pages on the commands, from what the program says of itself: `leakbound schema` and `--help`."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

Schema = dict[str, Any]
KINDS = {"number": "number", "integer": "integer", "string": "text", "path": "path", "flag": "flag"}


def groups(schema: Schema) -> dict[str, list[dict[str, Any]]]:
    """Commands by their first word."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in schema["commands"]:
        found.setdefault(row["command"].split()[0], []).append(row)
    return found


def cell(text: str) -> str:
    """A text as the cell of a table: one line, and nothing that Markdown would take for its own."""
    return re.sub(r"\s*\n\s*", " ", re.sub(r"([|*<>\[\]$~])", r"\\\1", text.strip()))


def option_row(option: dict[str, Any], words_of: dict[str, str]) -> str:
    words = option["option"] or option["value"] or option["name"].upper()
    shown = f"{words} {option['value']}" if option["option"] and option["value"] else words
    notes = [cell(option["help"])]
    if option["choices"]:
        notes.append("One of " + ", ".join(f"`{choice}`" for choice in option["choices"]) + ".")
    if option["default"]:
        notes.append(f"Default: `{option['default']}`.")
    if option["required"]:
        notes.append("Required.")
    if option["excludes"]:
        notes.append("Not with " + ", ".join(f"`{words_of.get(name, name)}`" for name in option["excludes"]) + ".")
    kind = KINDS.get(option["kind"], option["kind"]) + (", several" if option["list"] else "")
    return f"| `{shown}` | {kind} | {' '.join(sentence(note) for note in notes if note)} |"


def option_rows(options: list[dict[str, Any]], shared: bool) -> list[str]:
    words_of = {option["name"]: option["option"] or option["value"] or option["name"] for option in options}
    return [option_row(option, words_of) for option in options if option["shared"] == shared]


def sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else text + "."


def help_of(command: Path, words: str) -> str:
    ran = subprocess.run([command, *words.split(), "--help"], check=True, capture_output=True, text=True)
    return ran.stdout


def examples(text: str) -> str:
    """The examples at the end of a help, as one block."""
    match = re.search(r"(?ms)^Examples?:\n(.*?)(?:\n\n(?=\S)|\Z)", text)
    if not match:
        return ""
    lines = [line.strip() for line in match[1].splitlines() if line.strip()]
    return "```text\n" + "\n".join(lines) + "\n```\n"


def usage(text: str) -> str:
    match = re.search(r"(?m)^Usage: (.*)$", text)
    return f"`{match[1]}`\n" if match else ""


def file_name(command: str) -> str:
    return f"schema/{command.replace('--', '').replace(' ', '-')}.json"


def documents_of(row: dict[str, Any]) -> dict[str, Any]:
    """The schemas of what a command prints, by the command with the option that asks for it."""
    name = row["command"]
    others = {f"{name} {option}": document for option, document in row.get("documents_with", {}).items()}
    return ({name: row["document"]} if row["document"] else {}) | others


def section(row: dict[str, Any], command: Path, alone: bool) -> str:
    name = row["command"]
    text = help_of(command, name)
    own = [option for option in row["options"] if not option["shared"]]
    # A page on one command has its name as the title.
    lines = ([] if alone else [f"## leakbound {name}", ""]) + [sentence(row["help"]), "", usage(text)]
    lines += [examples(text)]
    if own:
        lines += ["| option | value | meaning |", "|---|---|---|", *option_rows(row["options"], shared=False), ""]
    for printed in documents_of(row):
        of = "" if printed == name else f" of `leakbound {printed}`"
        lines += [f'JSON: <a href="../../{file_name(printed)}">schema of the document{of}</a>.', ""]
    return "\n".join(lines)


def pages(schema: Schema, command: Path) -> dict[str, str]:
    """A page for each first word."""
    made = {}
    for group, rows in groups(schema).items():
        sections = [section(row, command, row["command"] == group) for row in rows]
        lead = (
            "The options that every command has are on [the first page of this reference](../commands.md); "
            "`--help` prints the same on your terminal."
        )
        made[f"reference/command/{group}.md"] = f"# leakbound {group}\n\n{lead}\n\n" + "\n".join(sections)
    return made


def schema_files(schema: Schema, documentation: str) -> dict[str, str]:
    """The JSON Schema of each document, with its own address."""
    made = {}
    for row in schema["commands"]:
        for printed, document in documents_of(row).items():
            name = file_name(printed)
            head = {"$schema": document["$schema"], "$id": f"{documentation}/{name}"}
            made[name] = json.dumps({**head, **document, **head}, indent=2, ensure_ascii=False) + "\n"
    return made


def parts(schema: Schema, command: Path) -> dict[str, str]:
    rows = [f"| [`leakbound {row['command']}`](command/{row['command'].split()[0]}.md#leakbound-{row['command'].replace(' ', '-')}) | {cell(row['help'])} |" for row in schema["commands"]]
    documents = [
        f'| `leakbound {printed} --format json` | <a href="../{file_name(printed)}">{file_name(printed)}</a> |'
        for row in schema["commands"]
        for printed in documents_of(row)
    ]
    toctree = "```{toctree}\n:hidden:\n\n" + "\n".join(f"command/{group}" for group in groups(schema)) + "\n```"
    return {
        "command.list": "| command | what it does |\n|---|---|\n" + "\n".join(rows),
        "command.shared": "| option | value | meaning |\n|---|---|---|\n" + "\n".join(option_rows(schema["commands"][0]["options"], shared=True)),
        "command.pages": toctree,
        "command.schemas": "| document | schema |\n|---|---|\n" + "\n".join(documents),
    }
