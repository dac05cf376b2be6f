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


def prose(text: str | None) -> str:
    """A comment as Markdown; the list of arguments becomes a table."""
    if not text:
        return ""
    before, _, after = text.partition("\nArgs:\n")
    arguments, _, rest = after.partition("\n\n")
    rows: list[list[str]] = []
    for line in arguments.splitlines():
        if match := re.match(r"    (\*{0,2}\w+): (.*)", line):
            rows.append([match[1], match[2]])
        elif rows and line.strip():
            rows[-1][1] += " " + line.strip()
    table = ""
    if rows:
        lines = [f"| `{name}` | {escaped(words)} |" for name, words in rows]
        table = "\n\n| argument | meaning |\n|---|---|\n" + "\n".join(lines)
    before, rest = doctests(before), doctests(rest)
    rest = re.sub(r"(?m)^(Raises|Returns|Yields):\n(?:    )", r"**\1:** ", rest)
    return before.strip() + table + ("\n\n" + rest.strip() if rest.strip() else "")


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


def attributes(node: ast.ClassDef) -> list[str]:
    """Rows on the annotated attributes, each with the string below it."""
    rows = []
    for item, after in zip(node.body, [*node.body[1:], None]):
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.target.id[0] != "_":
            words = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
                words = escaped(after.value.value.strip())
            rows.append(f"| `{item.target.id}` | `{ast.unparse(item.annotation)}` | {words} |".replace(" | None`", r" \| None`"))
    return rows


def section(node: ast.stmt, prefix: str, level: str = "##") -> str:
    assert isinstance(node, (ast.FunctionDef, ast.ClassDef))
    if isinstance(node, ast.FunctionDef):
        return f"{level} {node.name}\n\n```python\n{signature(node, prefix + node.name)}\n```\n\n{prose(ast.get_docstring(node))}\n"
    bases = [ast.unparse(base).split(".")[-1] for base in node.bases]
    lines = [f"{level} {node.name}", "", prose(ast.get_docstring(node)), ""]
    if documents := [base for base in bases if base.endswith("Document")]:
        lines += [f"Its keys are those of [{documents[0]}](python-rows.md#{documents[0].lower()}).", ""]
    if rows := attributes(node):
        lines += ["| attribute | type | meaning |", "|---|---|---|", *rows, ""]
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


def of(names: list[str], files: list[str], prefix: str = "leakbound.", level: str = "##") -> str:
    """Sections on names, wherever they are defined."""
    known: dict[str, ast.stmt] = {}
    for file in files:
        known |= definitions(module(PACKAGE / file))
    return "\n".join(section(known[name], prefix, level) for name in names if name in known)


def parts() -> dict[str, str]:
    functions = exported(module(PACKAGE / "_functions.py"))
    others = exported(module(PACKAGE / "__init__.py"))
    results = exported(module(PACKAGE / "_results.py"))
    hand = sorted({path.name for path in PACKAGE.glob("_*.py")} - {"_functions.py", "_documents.py", "_methods.py", "__init__.py"})
    documents = module(PACKAGE / "_documents.py")
    rows = exported(documents) + [name for name in definitions(documents) if name.endswith("Document")]
    canaries = exported(module(PACKAGE / "canaries/__init__.py"))
    distributed = exported(module(PACKAGE / "distributed/__init__.py"))
    return {
        "python.package": prose(ast.get_docstring(module(PACKAGE / "__init__.py"))),
        "python.functions": of(sorted(functions), ["_functions.py"], level="###"),
        "python.others": of([name for name in others if name not in ("Result", "Row", "Rows")], hand, level="###"),
        "python.results": of(["Result", *results, "Rows", "Row"], hand, prefix=""),
        "python.rows": of(sorted(set(rows)), ["_documents.py"], prefix=""),
        "python.canaries": "\n".join(
            [of(canaries, [f"canaries/{path.name}" for path in sorted((PACKAGE / "canaries").glob("*.py"))], "canaries.", "###")]
            + [adapter(name) for name in ("opacus", "jax", "pytorch")]
        ),
        "python.distributed": of(distributed, [f"distributed/{p.name}" for p in sorted((PACKAGE / "distributed").glob("*.py"))], "distributed.", "###"),
    }


def adapter(name: str) -> str:
    """A module of hooks for a library."""
    tree = module(PACKAGE / f"canaries/{name}.py")
    names = exported(tree) or [key for key in definitions(tree) if key[0] != "_"]
    lead = prose(ast.get_docstring(tree))
    return f"### canaries.{name}\n\n{lead}\n\n" + of(names, [f"canaries/{name}.py"], f"canaries.{name}.", "####")
