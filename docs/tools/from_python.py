"""Pages on the Python package, from its source: signatures, comments and the types of results. Nothing is imported."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from stage import ROOT

PACKAGE = ROOT / "python/src/leakbound"


def module(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def exported(tree: ast.Module) -> list[str]:
    """The names in __all__, also of what is added to it as a list."""
    names: list[str] = []
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and target.id == "__all__" and isinstance(value, (ast.List, ast.Tuple)):
            names += [str(element.value) for element in value.elts if isinstance(element, ast.Constant)]
    return names


def definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    return {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def signature(function: ast.FunctionDef, name: str, bound: bool = False) -> str:
    """The call as one would write it, a parameter on each line where there are many."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    words = [parameter(argument, default) for argument, default in zip(positional, defaults)][bound:]
    if arguments.vararg:
        words.append("*" + parameter(arguments.vararg, None))
    elif arguments.kwonlyargs:
        words.append("*")
    words += [parameter(argument, default) for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    if arguments.kwarg:
        words.append("**" + parameter(arguments.kwarg, None))
    result = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    line = f"{name}({', '.join(words)}){result}"
    if len(line) <= 88:
        return line
    return f"{name}(\n" + "".join(f"    {word},\n" for word in words) + f"){result}"


def parameter(argument: ast.arg, default: ast.expr | None) -> str:
    annotation = f": {ast.unparse(argument.annotation)}" if argument.annotation else ""
    equals = " = " if annotation else "="
    return f"{argument.arg}{annotation}" + (f"{equals}{ast.unparse(default)}" if default is not None else "")


SECTION = re.compile(r"(?m)^(Parameters|Attributes|Returns|Raises|See Also|References|Examples)\n-{3,}\n")


def prose(text: str | None) -> str:
    """A comment with sections of numpydoc as Markdown; parameters and attributes become a table."""
    before, *sections = SECTION.split(text or "")
    parts = [doctests(before).strip()]
    for name, body in zip(sections[::2], sections[1::2]):
        if name in ("Parameters", "Attributes"):
            parts.append(table("argument" if name == "Parameters" else "attribute", entries(body)))
        elif name == "Examples":
            parts.append(doctests(body).strip())
        elif name == "See Also":
            parts.append("See also " + ", ".join(f"`{line.strip()}`" for line in body.splitlines() if line.strip()) + ".")
        else:
            parts.append(f"**{name}:** " + escaped(" ".join(body.split())))
    return "\n\n".join(part for part in parts if part)


def entries(body: str) -> list[tuple[str, str, str]]:
    """Name, type and meaning of each entry of a section."""
    found: list[tuple[str, str, str]] = []
    for line in body.splitlines():
        if line.strip() and not line.startswith(" "):
            name, _, kind = line.partition(" : ")
            found.append((name, kind, ""))
        elif found and line.strip():
            name, kind, words = found[-1]
            found[-1] = (name, kind, f"{words} {line.strip()}".strip())
    return found


def table(title: str, rows: list[tuple[str, str, str]]) -> str:
    lines = [f"| `{name}` | {f'`{kind}`' if kind else ''} | {escaped(words)} |".replace(" | None`", r" \| None`") for name, kind, words in rows]
    return "\n".join([f"| {title} | type | meaning |", "|---|---|---|", *lines]) if lines else ""


def doctests(text: str) -> str:
    """Examples as sessions of Python."""
    return re.sub(r"(?m)^(>>> (?:.+\n?)+)", lambda match: f"```pycon\n{match[1].rstrip()}\n```\n", text)


def escaped(text: str) -> str:
    # Comments in Rust link to items.
    text = re.sub(r"\[([^\]]+)\]\((?:\w+::)+\w+\)", r"\1", text)
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([|*<>\[\]$])", r"\\\1", p) for p in pieces).replace("\n", " ")


def public(node: ast.ClassDef) -> list[ast.FunctionDef]:
    return [item for item in node.body if isinstance(item, ast.FunctionDef) and (item.name[0] != "_" or item.name == "__init__")]


def is_property(function: ast.FunctionDef) -> bool:
    names = {ast.unparse(decorator) for decorator in function.decorator_list}
    return any(name in ("property", "cached_property", "functools.cached_property") for name in names)


def annotated(node: ast.ClassDef) -> list[tuple[str, str, str]]:
    """Name, type and meaning of each field, which stand in its annotation."""
    rows = []
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.target.id[0] != "_":
            kind, words = item.annotation, ""
            if isinstance(kind, ast.Subscript) and ast.unparse(kind.value) == "Annotated" and isinstance(kind.slice, ast.Tuple):
                kind, note = kind.slice.elts
                # The meaning itself, or an option with it.
                note = note.args[0] if isinstance(note, ast.Call) else note
                words = note.value if isinstance(note, ast.Constant) else ""
            rows.append((item.target.id, ast.unparse(kind), words))
    return rows


def section(node: ast.stmt, prefix: str, level: str = "##") -> str:
    assert isinstance(node, (ast.FunctionDef, ast.ClassDef))
    if isinstance(node, ast.FunctionDef):
        return f"{level} {node.name}\n\n```python\n{signature(node, prefix + node.name)}\n```\n\n{prose(ast.get_docstring(node))}\n"
    bases = [ast.unparse(base).split(".")[-1] for base in node.bases]
    lines = [f"{level} {node.name}", "", prose(ast.get_docstring(node)), ""]
    if documents := [base for base in bases if base.endswith("Document")]:
        lines += [f"Its keys are those of [{documents[0]}](python-rows.md#{documents[0].lower()}).", ""]
    if rows := annotated(node):
        lines += [table("attribute", rows), ""]
    for function in public(node):
        if function.name == "__init__":
            lines += ["```python", signature(function, prefix + node.name, bound=True), "```", "", prose(ast.get_docstring(function)), ""]
            continue
        words = prose(ast.get_docstring(function))
        if is_property(function):
            kind = f": {ast.unparse(function.returns)}" if function.returns else ""
            lines += [f"**`.{function.name}{kind}`**  ", words, ""]
        else:
            static = any(ast.unparse(decorator) == "staticmethod" for decorator in function.decorator_list)
            lines += ["```python", signature(function, f".{function.name}", bound=not static), "```", "", words, ""]
    return "\n".join(lines)


def of(names: list[str], files: list[str], prefix: str = "", level: str = "##") -> str:
    """Sections on names, wherever they are defined; of two definitions of a name, that of the last file."""
    known: dict[str, ast.stmt] = {}
    for file in files:
        known |= definitions(module(PACKAGE / file))
    return "\n".join(section(known[name], prefix, level) for name in names if name in known)


def parts() -> dict[str, str]:
    own = sorted(path.name for path in PACKAGE.glob("*.py"))
    documents = module(PACKAGE / "documents.py")
    results = exported(module(PACKAGE / "results.py"))
    canaries = exported(module(PACKAGE / "canaries/__init__.py"))
    in_canaries = [f"canaries/{path.name}" for path in sorted((PACKAGE / "canaries").glob("*.py"))]
    in_distributed = [f"distributed/{path.name}" for path in sorted((PACKAGE / "distributed").glob("*.py"))]
    distributed = exported(module(PACKAGE / "distributed/__init__.py"))
    return {
        "python.package": prose(ast.get_docstring(module(PACKAGE / "__init__.py"))),
        "python.functions": "\n".join(of_module(name, own) for name in ("accounting", "audit", "membership", "simulate", "prompts")),
        "python.mechanisms": of_module("mechanisms", own),
        "python.options": "\n".join(section(node, "", "###") for node in definitions(module(PACKAGE / "_options.py")).values()),
        "python.errors": of(["Error", "InputError", "UsageError", "ClaimRefuted", "LeakboundWarning"], own, level="###"),
        "python.results": of(["Result", *results, "Rows", "Row"], own, prefix=""),
        "python.rows": "\n".join(section(node, "", "##") for _, node in sorted(definitions(documents).items())),
        "python.canaries": "\n".join(
            [of(canaries, ["_canaries.py", "_methods.py", *in_canaries], "canaries.", "###")]
            + [adapter(name) for name in ("opacus", "jax", "pytorch")]
        ),
        "python.distributed": of(distributed, in_distributed, "distributed.", "###"),
    }


def of_module(name: str, files: list[str]) -> str:
    """What a module has, in sections."""
    tree = module(PACKAGE / f"{name}.py")
    return f"### {name}\n\n{prose(ast.get_docstring(tree))}\n\n" + of(exported(tree), files, f"{name}.", "####")


def adapter(name: str) -> str:
    """A module of hooks for a library."""
    tree = module(PACKAGE / f"canaries/{name}.py")
    names = exported(tree) or [key for key in definitions(tree) if key[0] != "_"]
    lead = prose(ast.get_docstring(tree))
    return f"### canaries.{name}\n\n{lead}\n\n" + of(names, [f"canaries/{name}.py"], f"canaries.{name}.", "####")
