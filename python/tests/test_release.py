"""What a release says of itself agrees with itself: version, links, licenses, commands, files, and the paper.

Nothing is built here; `packaging/release.py` has the places of version and links.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A source distribution has the tests without the files of the repository.
pytestmark = pytest.mark.skipif(not (ROOT / "release.toml").exists(), reason="no repository")

if (ROOT / "release.toml").exists():
    spec = importlib.util.spec_from_file_location("release", ROOT / "packaging" / "release.py")
    assert spec is not None and spec.loader is not None
    release = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(release)

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
# Folders that are built or downloaded, and results that are never edited.
FOREIGN = {".git", ".venv", "target", "results", "data", "reference", "seeds", "corpus", "node_modules", "__pycache__"}
# What people read.
PROSE = re.compile(r"^\W*(?:#|name:|author:|description:|summary:)|\becho \"::")
ENDINGS = {".cff", ".md", ".py", ".rs", ".toml", ".yaml", ".yml", ".sh"}


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def written() -> list[Path]:
    """What is written by hand."""
    paths = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in FOREIGN]
        paths += [Path(folder, name) for name in files if Path(name).suffix in ENDINGS]
    return paths


def test_version_links_and_authors_agree():
    assert release.faults() == []


def test_links_are_in_known_files_only():
    known = {ROOT / file for places in release.PLACES.values() for file, _ in places}
    for name in ("repository", "homepage", "documentation", "contact"):
        value = release.found(name)[0][1]
        holders = {path for path in written() if re.search(rf"(?<![\w./@]){re.escape(value)}", path.read_text("utf-8"))}
        assert holders and holders <= known, f"{name}: {sorted(map(str, holders - known))}: not in packaging/release.py"


def copied(folder: Path) -> Path:
    """The files that hold version and links, and the script, elsewhere."""
    files = {file for places in release.PLACES.values() for file, _ in places} | {"CHANGELOG.md", "packaging/release.py"}
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / file)
    return folder / "packaging" / "release.py"


def test_a_release_can_be_prepared(tmp_path):
    script = copied(tmp_path)

    def ran(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, str(script), *words], check=False, capture_output=True, text=True)

    tag = ran("check", "--tag", "v9.8.7")
    assert tag.returncode == 1 and "tag 'v9.8.7', but the version is" in tag.stdout
    values = {"repository": "https://a.test/b", "homepage": "https://c.test", "documentation": "https://d.test/e"}
    values |= {"contact": "f@g.test", "version": "9.8.7", "date": "2030-01-02"}
    for name, value in values.items():
        assert ran("set", name, value).returncode == 0
    checked = ran("check", "--tag", "v9.8.7")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    notes = ran("notes").stdout
    assert notes.startswith("### Added") and "\n## " not in notes
    for file in {file for places in release.PLACES.values() for file, _ in places} - {"release.toml"}:
        assert "example.org" not in (tmp_path / file).read_text("utf-8"), file
    assert ran("set", "nothing", "x").returncode == 2


def test_a_place_that_differs_is_named(tmp_path):
    script = copied(tmp_path)
    file = tmp_path / "CITATION.cff"
    file.write_text(file.read_text("utf-8").replace("git.example.org", "other.test"), encoding="utf-8")
    done = subprocess.run([sys.executable, str(script), "check"], check=False, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout.startswith("CITATION.cff: repository 'https://other.test"), done.stdout


def test_other_values_need_a_version_that_says_so():
    entry = "### Fixed\n\n- **value-breaking:** a bound was too large.\n\n"

    def faults(newer: str, older: str, text: str = entry) -> list[str]:
        return release.faults_of_versions(f"A **value-breaking** entry.\n\n## [{newer}] - x\n\n{text}## [{older}] - y\n")

    for newer, older in (("0.2.0", "0.1.3"), ("0.3.1", "0.1.9"), ("1.0.0", "0.9.0"), ("2.0.0", "1.4.0"), ("Unreleased", "0.1.0")):
        assert faults(newer, older) == [], newer
    for newer, older, least in (("0.1.1", "0.1.0", "0.2.0"), ("1.5.0", "1.4.2", "2.0.0"), ("1.4.3", "1.4.2", "2.0.0")):
        assert faults(newer, older) == [f"CHANGELOG.md: {newer} has value-breaking entries; after {older} it has to be {least}"]
        # Without such an entry the interface alone decides.
        assert faults(newer, older, "- Faster.\n\n") == [] and faults(newer, older, "") == []
    for newer, older in (("0.1.0", "0.2.0"), ("0.1.0", "0.1.0")):
        assert faults(newer, older, "") == [f"CHANGELOG.md: {newer} stands above {older}"]
    # What stands in the changelog now is found by the same expression.
    assert len(release.VALUE_BREAKING.findall(text("CHANGELOG.md"))) >= 20


def test_check_refuses_too_small_a_version(tmp_path):
    script = copied(tmp_path)
    file = tmp_path / "CHANGELOG.md"
    version = release.found("version")[0][1]
    major, minor, patch = map(int, version.split("."))
    sections = f"## [{major}.{minor}.{patch + 1}] - 2030-01-02\n\n- **value-breaking** x\n\n## [{version}] - 2030-01-01\n\n"
    before, unreleased = file.read_text("utf-8").split("## [Unreleased]\n", 1)
    file.write_text(f"{before}## [Unreleased]\n\n{sections}{unreleased}", encoding="utf-8")
    done = subprocess.run([sys.executable, str(script), "check"], check=False, capture_output=True, text=True)
    assert done.returncode == 1 and "has value-breaking entries" in done.stdout, done.stdout


def test_a_release_needs_an_interface_that_is_compatible():
    yaml = pytest.importorskip("yaml")
    jobs = yaml.safe_load(text(".github/workflows/release.yml"))["jobs"]
    checks = {name for name, job in jobs.items() if "cargo semver-checks" in str(job)}
    assert len(checks) == 1
    for name in ("pypi", "crates"):
        assert checks <= set(jobs[name]["needs"]), name


def test_packages_inherit_what_is_written_once():
    for member in (".", *release.tomllib.loads(text("Cargo.toml"))["workspace"]["members"]):
        package = release.tomllib.loads(text(f"{member}/Cargo.toml"))["package"]
        if member in ("fuzz", "validation", "xtask"):
            continue
        for key in ("version", "authors", "license", "repository", "homepage", "documentation", "rust-version"):
            assert package[key] == {"workspace": True}, f"{manifest}Cargo.toml: {key}"


def test_packages_are_published_after_what_they_need():
    manifests = {}
    for member in (".", *release.tomllib.loads(text("Cargo.toml"))["workspace"]["members"]):
        manifest = release.tomllib.loads(text(f"{member}/Cargo.toml"))
        manifests[manifest["package"]["name"]] = manifest
    public = {name for name, manifest in manifests.items() if manifest["package"].get("publish", True)}
    order = release.settings()["crates"]
    assert sorted(order) == sorted(public)
    for place, name in enumerate(order):
        # Of development dependencies without a version nothing is published.
        needed = {other.replace("_", "-") for other in manifests[name]["dependencies"] if other.startswith("leakbound")}
        assert needed <= set(order[:place]), f"{name} needs {needed}"


def test_each_package_has_its_own_files():
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        for folder in ("cli", "train", "python"):
            assert text(f"{folder}/{name}") == text(name), f"{folder}/{name}"
    # What lies outside a package is not published with it.
    assert text("cli/build.rs") == text("train/build.rs")
    for folder in ("cli", "train"):
        assert not str(release.tomllib.loads(text(f"{folder}/Cargo.toml"))["package"].get("build", "")).startswith("..")
    project = release.tomllib.loads(text("python/pyproject.toml"))["project"]
    assert project["license"] == release.tomllib.loads(text("Cargo.toml"))["workspace"]["package"]["license"]


def test_python_and_rust_agree_on_the_oldest_python():
    oldest = release.tomllib.loads(text("python/pyproject.toml"))["project"]["requires-python"].removeprefix(">=")
    assert f'"abi3-py{oldest.replace(".", "")}"' in text("python/Cargo.toml")
    assert f"python >={oldest}" in text("packaging/conda/recipe.yaml")


def test_the_oldest_rust_is_the_one_that_is_tested():
    oldest = release.tomllib.loads(text("Cargo.toml"))["workspace"]["package"]["rust-version"]
    assert f"cargo +{oldest} check" in text(".github/workflows/ci.yml")
    assert f"Rust {oldest} or later" in text("README.md")


def test_commands_are_those_of_the_documentation():
    commands = text("docs/commands.md")
    names = [*WORKFLOWS, ROOT / "action.yml", ROOT / ".pre-commit-hooks.yaml", ROOT / "packaging" / "conda" / "recipe.yaml"]
    called = set()
    for path in names:
        lines = path.read_text("utf-8").splitlines()
        whole = "\n".join(line for line in lines if not PROSE.search(line))
        called |= set(re.findall(r'(?:\bleakbound|"\$program"|/leakbound|bin leakbound --) ([a-z][a-z-]*)\b', whole))
    assert {"run", "completions", "man", "exact"} <= called
    for command in called:
        assert f"`leakbound {command}" in commands, command
    for option in ("--report", "--format", "--output"):
        assert option in text("action.yml") and option in commands
    assert "| 3 | a claim was refuted |" in text("docs/reading-results.md")


def test_workflows_name_files_that_exist():
    named = set()
    for path in [*WORKFLOWS, ROOT / "action.yml"]:
        whole = path.read_text("utf-8")
        named |= set(re.findall(r"(?<![\w$/{*.])(?:\.ci/|\.github/|packaging/|python/|cli/|xtask/src/|fuzz/)[\w./-]+\w", whole))
    assert {".ci/run", "packaging/release.py", "python/Cargo.toml"} <= named
    for name in named:
        assert (ROOT / name).exists(), name
    for package in set(re.findall(r"--package ([\w-]+)", "".join(path.read_text("utf-8") for path in WORKFLOWS))):
        assert package in release.settings()["crates"], package


def test_workflows_have_few_rights_and_an_end():
    yaml = pytest.importorskip("yaml")
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text("utf-8"))
        assert workflow["permissions"] == {"contents": "read"}, path.name
        for name, job in workflow["jobs"].items():
            assert "uses" in job or job["timeout-minutes"] <= 360, f"{path.name}: {name}"
            for step in job.get("steps", []):
                assert re.fullmatch(r"[^@]+@(?:v\d+|release/v\d+|[0-9a-f]{40})", step.get("uses", "a@v1")), step
                # Names of branches and of tags are text of others: they reach a shell as variables only.
                assert not re.search(r"\$\{\{\s*(?:github|inputs|secrets)\.", step.get("run", "")), f"{path.name}: {name}"


def test_the_documents_parse():
    yaml = pytest.importorskip("yaml")
    for path in [*(ROOT / ".github").rglob("*.yml"), ROOT / "action.yml", ROOT / ".pre-commit-hooks.yaml", ROOT / "CITATION.cff"]:
        assert yaml.safe_load(path.read_text("utf-8")), path
    folders = {update["directory"] for update in yaml.safe_load(text(".github/dependabot.yml"))["updates"]}
    for folder in folders:
        assert (ROOT / folder.lstrip("/")).is_dir(), folder


def test_the_paper_is_short_and_cites_what_it_lists():
    whole = text("paper/paper.md")
    front, body = whole.split("---\n", 2)[1:]
    for key in ("title:", "tags:", "authors:", "affiliations:", "date:", "bibliography: paper.bib"):
        assert re.search(rf"(?m)^{key}", front), key
    words = re.sub(r"(?s)<!--.*?-->", "", body).split()
    assert len(words) <= 1000, f"{len(words)} words"
    cited = set(re.findall(r"@([a-z]+\d{4})", body))
    listed = set(re.findall(r"(?m)^@\w+\{(\w+),", text("paper/paper.bib")))
    assert cited == listed, cited ^ listed


def test_each_figure_of_the_paper_names_a_result_that_has_it():
    body = text("paper/paper.md").split("---\n", 2)[2]
    comments = re.findall(r"<!-- (.*?): ((?:validation/results|benches)/[\w.-]+\.md).*?-->", body)
    assert len(comments) >= 8
    for figures, file in comments:
        result = text(file).replace(",", "")
        for figure in re.findall(r"\d[\d.]*", figures.replace(",", "")):
            assert figure.rstrip(".") in result, f"{file} does not have {figure}"
