"""Mutation testing of the statistical rooms, run by `cargo xtask validate mutants [OPTION...]`; `--help` lists options.

cargo-mutants names the mutants: one changed operator, negation, guard or return value each. It builds the crate again
for every one of them, which takes minutes here. This program samples from its list with a fixed seed, writes all
sampled mutants into one copy of the source, each behind a switch that an environment variable turns on, builds the
tests once, and runs them once for each mutant: first those of the mutated file, then those of its room, then the
integration tests that compare numbers with exact values, tables and peers.

A mutant that no test notices is missed, or explained where explained.tsv says why nothing changes that a test should
notice: a line there names the file, the mutant as cargo-mutants does, and the text of the line on which it starts, with
a #2 and so on behind the mutant where the same one comes again on an equal line of the file. Explained mutants are run
like all others: one that is caught after all is reported, and so is a line that no mutant of the room's whole list
matches any more.

Outcomes are kept in target/mutants: with `--resume` mutants that were caught are not run again, so that a run can be
interrupted and survivors tried again after new tests. The raw score is caught / (caught + missed + explained), the
score caught / (caught + missed). Deleted match arms, deleted fields and what the compiler evaluates (constants,
`const fn`) cannot be switched and are counted apart.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import tree_sitter
import tree_sitter_rust

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "mutants"
TREE = WORK / "tree"
# Mutants that did not compile, so that they are not tried again.
UNVIABLE = WORK / "unviable.txt"
# Outcomes so far, one line each: outcome, name and place.
LEDGER = WORK / "outcomes.tsv"
# Why survivors survive: file, mutant, text of the line, reason.
EXPLAINED = pathlib.Path(__file__).parent / "explained.tsv"
# The package of each room.
PACKAGES = {
    "interval": "core",
    "audit": "audit",
    "accountant": "mechanisms",
    "bound": "core",
    "divergence": "core",
    "distribution": "core",
}
ROOMS = list(PACKAGES)
# Every package re-exports it from this one.
LOWEST = "src/core/lib.rs"
SWITCH = """
/// Which of the mutants written into this copy is on.
pub mod mutant_switch {
    use std::sync::OnceLock;
    static NUMBER: OnceLock<u32> = OnceLock::new();
    #[inline(always)]
    /// Whether it is this one.
    pub fn on(number: u32) -> bool {
        *NUMBER.get_or_init(|| std::env::var("MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0)) == number
    }
}
"""
# Integration tests that compare numbers with exact values, tables and peers, and take seconds.
NUMERIC = "counts_together k_cut many_outcomes reference roc rounding whole_answer".split()
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))


class Mutant:
    """One mutant of cargo-mutants' list, with the place in the file where it is written."""

    def __init__(self, entry, room):
        self.room, self.file, self.genre = room, entry["file"], entry["genre"]
        self.name, self.replacement = entry["name"], entry["replacement"]
        self.span = entry["span"]
        self.key = f"{self.name} {self.span['start']['line']}:{self.span['start']['column']}"
        self.number, self.outcome, self.seeds = 0, None, []
        # What stays when lines move; `listed` tells equal ones apart.
        line = (ROOT / self.file).read_text().splitlines()[self.span["start"]["line"] - 1]
        self.place = (self.file, self.name.split(": ", 1)[1], line.strip())

    def module(self):
        """The path of the tests in the same file."""
        parts = self.file.removeprefix("src/").removesuffix(".rs").removesuffix("/mod").split("/")
        return "::".join(parts[parts.index(self.room) :]) + "::"


def folder(room):
    """Where a room is: a package of one room is that room."""
    package = PACKAGES[room]
    return f"src/{room}" if room == package else f"src/{package}/{room}"


def listed(room):
    """All mutants of a room; cargo-mutants is installed in target/tools by the caller."""
    package = f"leakbound-{PACKAGES[room]}"
    command = [ROOT / "target/tools/bin/cargo-mutants", "mutants", "--list", "--json", "-p", package]
    output = subprocess.run([*command, "-f", f"{folder(room)}/**"], cwd=ROOT, check=True, capture_output=True)
    mutants = [Mutant(entry, room) for entry in json.loads(output.stdout)]
    seen = collections.Counter()
    start = lambda mutant: (mutant.span["start"]["line"], mutant.span["start"]["column"])  # noqa: E731
    for mutant in sorted(mutants, key=start):
        seen[mutant.place] += 1
        if seen[mutant.place] > 1:
            file, description, line = mutant.place
            mutant.place = (file, f"{description} #{seen[mutant.place]}", line)
    return mutants


def explanations():
    """The reasons in explained.tsv by file, mutant and text of the line."""
    rows = [line.split("\t") for line in EXPLAINED.read_text().splitlines()[1:]]
    return {tuple(row[:3]): row[3] for row in rows}


def copy_sources(mutated):
    """The tracked files in target/mutants/tree; unchanged files keep their times, so that cargo builds little."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    for name in set(names) - mutated - {"", LOWEST}:
        source, copy = ROOT / name, TREE / name
        if source.is_file():
            replace(copy, source.read_bytes())


def replace(path, content):
    """Writes a file unless it has this content: its time tells cargo whether to build."""
    if not (path.is_file() and path.read_bytes() == content):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def byte_offset(lines, place):
    """Offset in bytes of a line and column that count from 1."""
    before = sum(len(line) for line in lines[: place["line"] - 1])
    line = lines[place["line"] - 1].decode()
    return before + len(line[: place["column"] - 1].encode())


def ancestors(node):
    while node is not None:
        yield node
        node = node.parent


def is_constant(node):
    """Whether the place is evaluated by the compiler, where no switch can be asked."""
    for outer in ancestors(node):
        if outer.type in ("const_item", "static_item", "array_type", "const_block"):
            return True
        if outer.type == "function_item":
            return any(child.type == "function_modifiers" and b"const" in child.text for child in outer.children)
    return False


def edit_of(mutant, source, tree):
    """How the mutant is written: the syntax node and the rewriting of its text, or None if it cannot be written."""
    lines = source.splitlines(keepends=True)
    start, end = (byte_offset(lines, mutant.span[side]) for side in ("start", "end"))
    node = tree.root_node.descendant_for_byte_range(start, end)
    if node is None or is_constant(node):
        return None
    text = lambda n: source[n.start_byte : n.end_byte]  # noqa: E731
    condition = b"crate::mutant_switch::on(%d)" % mutant.number
    if mutant.genre == "BinaryOperator":
        outer = next((n for n in ancestors(node) if n.type in ("binary_expression", "compound_assignment_expr")), None)
        if outer is None or outer.child_by_field_name("operator").start_byte != start:
            return None
        left, right = outer.child_by_field_name("left"), outer.child_by_field_name("right")
        changed = text(left) + b" " + mutant.replacement.encode() + b" " + text(right)
        return outer, lambda inner: b"(if " + condition + b" { " + changed + b" } else { " + inner + b" })"
    if mutant.genre == "UnaryOperator":
        outer = next((n for n in ancestors(node) if n.type == "unary_expression"), None)
        if outer is None or outer.start_byte != start:
            return None
        changed = text(outer)[1:]
        return outer, lambda inner: b"(if " + condition + b" { " + changed + b" } else { " + inner + b" })"
    if mutant.genre == "MatchArmGuard":
        if node.start_byte != start or node.end_byte != end:
            return None
        if mutant.replacement == "true":
            return node, lambda inner: b"(" + condition + b" || (" + inner + b"))"
        return node, lambda inner: b"(!" + condition + b" && (" + inner + b"))"
    if mutant.genre == "FnValue":
        function = next((n for n in ancestors(node) if n.type == "function_item"), None)
        block = function and function.child_by_field_name("body")
        if block is None or not block.start_byte <= start < block.end_byte:
            return None
        returned = function.child_by_field_name("return_type")
        if returned is not None and b"impl " in text(returned):
            return None
        value = mutant.replacement.encode()
        early = b" if " + condition + b" { return " + value + b"; } "
        return block, lambda inner: b"{" + early + inner[1:]
    return None


def write(mutants):
    """Writes the mutants into the copy; each is between comments with its number, by which errors find it."""
    # A file without a mutant that is left is written too: as it is.
    by_file = {mutant.file: [] for mutant in mutants}
    for mutant in mutants:
        if mutant.outcome is None:
            by_file[mutant.file].append(mutant)
    for file, group in by_file.items():
        source = (ROOT / file).read_bytes()
        tree = PARSER.parse(source)
        edits = collections.defaultdict(list)
        for mutant in group:
            edit = edit_of(mutant, source, tree)
            if edit is None:
                mutant.outcome = "not expressible"
            else:
                edits[(edit[0].start_byte, edit[0].end_byte)].append((mutant, edit[1]))

        def rewritten(start, end, outermost, edits=edits, source=source):
            """The text of a range with all edits in it; only one is ever on, so changed sides keep their old text."""
            inside = [place for place in edits if start <= place[0] and place[1] <= end and place != outermost]
            out, at = b"", start
            for place in sorted(inside, key=lambda place: (place[0], -place[1])):
                if place[0] < at:
                    continue
                out += source[at : place[0]] + one(place)
                at = place[1]
            return out + source[at:end]

        def one(place, edits=edits):
            text = rewritten(*place, place)
            for mutant, wrap in edits[place]:
                mark, text = b"%d*/" % mutant.number, wrap(text)
                if mutant.genre == "FnValue":
                    # Errors of the early return may show anywhere in the body.
                    text = b"{/*<" + mark + text[1:-1] + b"/*>" + mark + b"}"
                else:
                    text = b"/*<" + mark + text + b"/*>" + mark
            return text

        new = rewritten(0, len(source), None)
        replace(TREE / file, new)
    replace(TREE / LOWEST, (ROOT / LOWEST).read_bytes() + SWITCH.encode())


def cargo(arguments, profile):
    """Runs cargo in the copy and returns its messages."""
    environment = {**os.environ, "CARGO_TARGET_DIR": str(WORK / "build"), "CARGO_INCREMENTAL": "1"}
    command = ["cargo", *arguments, "--message-format=json", *profile]
    run = subprocess.run(
        command, cwd=TREE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    return run.returncode, [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def expansions(span):
    """A place and those of the macro calls around it."""
    while span:
        yield span
        span = (span.get("expansion") or {}).get("span")


def offenders(messages):
    """Numbers of the mutants in which the compiler found errors."""
    numbers, unknown = set(), []
    for message in messages:
        if message.get("reason") != "compiler-message" or message["message"]["level"] != "error":
            continue
        spans = [outer for span in message["message"]["spans"] for outer in expansions(span)]
        found = set()
        for span in spans:
            path = TREE / span["file_name"]
            if not path.is_file():
                continue
            text = path.read_bytes()
            opened = [(m.start(), int(m[1])) for m in re.finditer(rb"/\*<(\d+)\*/", text)]
            for start, number in opened:
                end = text.find(b"/*>%d*/" % number)
                if start < span["byte_end"] and span["byte_start"] < end:
                    found.add((end - start, number))
        if found:
            numbers.add(min(found)[1])
        elif spans:
            unknown.append(message["message"]["rendered"])
    return numbers, unknown


def build(mutants, profile):
    """Builds the tests, leaving out mutants that do not compile; returns the programs by name."""
    known = set(UNVIABLE.read_text().splitlines()) if UNVIABLE.is_file() else set()
    for mutant in mutants:
        if mutant.key in known:
            mutant.outcome = "unviable"
    of_packages = [word for package in sorted(set(PACKAGES.values())) for word in ("-p", f"leakbound-{package}")]
    for _ in range(12):
        write(mutants)
        status, messages = cargo(["check", *of_packages, "--lib", "--profile=test"], profile)
        if status == 0:
            break
        numbers, unknown = offenders(messages)
        if not numbers:
            raise SystemExit("the copy does not compile:\n" + "\n".join(unknown[:3]))
        for mutant in mutants:
            if mutant.number in numbers:
                mutant.outcome = "unviable"
                known.add(mutant.key)
        UNVIABLE.write_text("\n".join(sorted(known)))
        print(f"{len(numbers)} mutants do not compile and are left out", flush=True)
    # The integration tests belong to the command's package. The crates of all packages have one name.
    tests = ["test", *of_packages, "-p", "leakbound-cli", "--lib", "--test", "it", "--no-run"]
    status, messages = cargo(tests, profile)
    built = [message for message in messages if message.get("executable") and message["profile"]["test"]]
    folder_name = lambda message: pathlib.Path(message["manifest_path"]).parent.name  # noqa: E731
    name = lambda message: "it" if message["target"]["name"] == "it" else folder_name(message)  # noqa: E731
    programs = {name(message): message["executable"] for message in built}
    if status or not {"it", *PACKAGES.values()} <= programs.keys():
        raise SystemExit("the tests cannot be built: " + "\n".join(offenders(messages)[1][:3]))
    return programs


def passes(program, number, filters, limit):
    """Whether the tests pass with a mutant on; None if they take longer than `limit` seconds."""
    environment = {**os.environ, "MUTANT": str(number), "RUST_BACKTRACE": "0", "PROPTEST_RNG_SEED": "20260101"}
    process = subprocess.Popen(
        [program, *filters],
        cwd=TREE / "cli",  # as cargo runs the integration tests
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    start, verdict, rest = time.monotonic(), True, b""
    os.set_blocking(process.stdout.fileno(), False)
    while True:
        ended = process.poll() is not None
        rest += process.stdout.read() or b""
        # The first failure decides.
        if b"... FAILED" in rest:
            verdict = False
            break
        if ended:
            verdict = process.returncode == 0
            break
        if limit and time.monotonic() - start > limit:
            verdict = None
            break
        time.sleep(0.05)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return verdict, rest


def table(mutants, totals):
    lines = ["| room | mutants | sampled | run | caught | missed | explained | raw | score |"]
    lines.append("|---" * 9 + "|")
    percent = lambda part, whole: f"{100 * part / whole:.1f} %" if whole else "-"  # noqa: E731
    for room in [*totals, "all"]:
        of_room = [mutant for mutant in mutants if room in (mutant.room, "all")]
        count = collections.Counter(mutant.outcome for mutant in of_room)
        caught, missed, explained = count["caught"] + count["timeout"], count["missed"], count["explained"]
        run = caught + missed + explained
        numbers = [totals.get(room, sum(totals.values())), len(of_room), run, caught, missed, explained]
        scores = [percent(caught, run), percent(caught, caught + missed)]
        lines.append("| " + " | ".join(map(str, [room, *numbers, *scores])) + " |")
    return "\n".join(lines)


def survivors(order, reasons, stale):
    """Lists of the mutants that were missed or explained, and of what is no longer right in explained.tsv."""
    outcomes = [(mutant, mutant.outcome, reasons.get(mutant.place)) for mutant in order]
    missed = [f"`{mutant.name}`" for mutant, outcome, _ in outcomes if outcome == "missed"]
    explained = [f"`{mutant.name}`: {reason}" for mutant, outcome, reason in outcomes if outcome == "explained"]
    caught = [f"`{mutant.name}`" for mutant, outcome, reason in outcomes if reason and outcome in ("caught", "timeout")]
    lists = {"Missed": missed, "Explained": explained, "Explained, but caught": caught}
    lists["Explained, but no mutant any more"] = [f"`{file}`, `{line}`: {mutant}" for file, mutant, line in stale]
    always = ("Missed", "Explained")
    texts = {title: "\n".join(f"- {item}" for item in items) or "None." for title, items in lists.items()}
    return "\n\n".join(f"## {title}\n\n{texts[title]}" for title in lists if lists[title] or title in always)


def main():
    parser = argparse.ArgumentParser(prog="cargo xtask validate mutants", description=__doc__.split("\n")[0])
    parser.add_argument("--room", action="append", choices=ROOMS, help="only this room; may be given again")
    parser.add_argument("--sample", type=int, default=60, metavar="N", help="mutants of each room (default: 60)")
    parser.add_argument(
        "--seed", type=int, action="append", help="of the sample (default: 1); given again, of further samples"
    )
    parser.add_argument(
        "--minutes", type=float, default=120, help="after which no further mutant is run (default: 120)"
    )
    parser.add_argument("--opt-level", default="1", help="of the mutated crate (default: 1)")
    parser.add_argument("--since", metavar="REVISION", help="sample only files that changed since this commit")
    parser.add_argument("--only", metavar="TEXT", help="run only sampled mutants whose name contains this")
    parser.add_argument("--resume", action="store_true", help="do not run mutants again that were caught before")
    parser.add_argument("--result", type=pathlib.Path, help="also write the tables and the survivors to this file")
    options = parser.parse_args()
    start = time.monotonic()
    totals, mutants, seeds = {}, [], options.seed or [1]
    reasons = explanations()
    stale = {place for place in reasons if any(place[0].startswith(folder(room)) for room in options.room or ROOMS)}
    changed = ["git", "diff", "--name-only", options.since or "HEAD", "--", "src"]
    changed = set(subprocess.run(changed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n"))
    for room in options.room or ROOMS:
        all_of_room = listed(room)
        stale -= {mutant.place for mutant in all_of_room}
        if options.since:
            all_of_room = [mutant for mutant in all_of_room if mutant.file in changed]
        totals[room] = len(all_of_room)
        for seed in seeds:
            sample = random.Random(f"{seed} {room}").sample(all_of_room, min(options.sample, len(all_of_room)))
            for mutant in sample:
                if not mutant.seeds:
                    mutants.append(mutant)
                mutant.seeds.append(seed)
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
    copy_sources({mutant.file for mutant in mutants})
    level = lambda package: f"profile.dev.package.leakbound-{package}.opt-level={options.opt_level}"  # noqa: E731
    profile = [word for package in sorted(set(PACKAGES.values())) for word in ("--config", level(package))]
    programs = build(mutants, profile)
    integration = programs["it"]
    print(f"{len(mutants)} mutants, built after {time.monotonic() - start:.0f} s", flush=True)
    numeric = [f"{module}::" for module in NUMERIC]
    limits = {}
    units = [(room, programs[PACKAGES[room]], [f"{room}::"]) for room in totals]
    for name, program, filters in [*units, ("it", integration, numeric)]:
        began = time.monotonic()
        verdict, output = passes(program, 0, filters, None)
        if not verdict:
            raise SystemExit(f"the tests of {name} fail without a mutant:\n{output.decode(errors='replace')[-2000:]}")
        limits[name] = 5 * (time.monotonic() - began) + 30
        print(f"{name}: {time.monotonic() - began:.1f} s for its tests", flush=True)
    caught_before = {}
    if options.resume and LEDGER.is_file():
        lines = [line.split("\t", 1) for line in LEDGER.read_text().splitlines()]
        caught_before = {key: outcome for outcome, key in lines if outcome in ("caught", "timeout")}
    # Rooms in turn, so that a run that is ended early has some of each.
    order = sorted(
        mutants, key=lambda mutant: ([m for m in mutants if m.room == mutant.room].index(mutant), mutant.number)
    )
    for mutant in order:
        if mutant.outcome or (options.only and options.only not in mutant.name):
            continue
        if time.monotonic() - start > 60 * options.minutes:
            break
        if mutant.key in caught_before:
            mutant.outcome = caught_before[mutant.key]
            continue
        began = time.monotonic()
        for program, filters, limit in (
            (programs[PACKAGES[mutant.room]], [mutant.module()], limits[mutant.room]),
            (programs[PACKAGES[mutant.room]], [f"{mutant.room}::", "--skip", mutant.module()], limits[mutant.room]),
            (integration, numeric, limits["it"]),
        ):
            verdict, _ = passes(program, mutant.number, filters, limit)
            if verdict is not True:
                break
        survived = "explained" if mutant.place in reasons else "missed"
        mutant.outcome = {True: survived, False: "caught", None: "timeout"}[verdict]
        print(f"{mutant.outcome:9} {time.monotonic() - began:6.1f} s  {mutant.name}", flush=True)
        with LEDGER.open("a") as ledger:
            ledger.write(f"{mutant.outcome}\t{mutant.key}\n")
    count = collections.Counter(mutant.outcome or "not run" for mutant in mutants)
    others = ", ".join(
        f"{count[key]} {key}" for key in ("timeout", "unviable", "not expressible", "not run") if count[key]
    )
    tables = "\n\n".join(
        f"Seed {seed}:\n\n{table([mutant for mutant in mutants if seed in mutant.seeds], totals)}" for seed in seeds
    )
    text = (
        f"{tables}\n\n{options.sample} mutants of each room; {others}. "
        f"A timeout counts as caught; {(time.monotonic() - start) / 60:.0f} minutes.\n\n"
        f"{survivors(order, reasons, sorted(stale))}\n"
    )
    print(f"\n{text}")
    if options.result:
        options.result.write_text(text)


if __name__ == "__main__":
    sys.exit(main())
