//! The rooms of src/ depend on each other in one direction: the block `layering` of DESIGN.md is the list, and every
//! path through `crate::` or `super::` is held against it.

use crate::source::{code, files, read, tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What a room may use: rooms of the library, and crates that it must not name.
#[derive(Debug, Default)]
struct Rule {
    rooms: BTreeSet<String>,
    never: BTreeSet<String>,
}

type Rules = BTreeMap<String, Rule>;

/// One file of a room.
struct Source<'a> {
    room: &'a str,
    file: &'a str,
    /// How many modules the file is below the crate's root, so that this many `super::` reach the root.
    depth: usize,
    text: &'a str,
}

/// The members that use the library as their users do; each counts as one room above the library's.
const MEMBERS: [(&str, &str); 2] = [("cli", "leakbound_cli"), ("train", "leakbound_train")];

/// The packages of several rooms; the others are rooms themselves.
const PACKAGES: [&str; 4] = ["core", "mechanisms", "attacks", "checks"];

/// All files of the library and of the members above it, as if all were rooms of one crate.
fn house() -> Vec<(String, String)> {
    let root = Path::new(crate::ROOT);
    let texts = |folder: &str| -> Vec<(String, String)> {
        let folder = root.join(folder);
        let inside = |path: &Path| path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
        files(&folder).iter().map(|path| (inside(path), read(path))).collect()
    };
    // A package declares its rooms, and re-exports those below; one of several rooms is a folder above them.
    let inside = |path: String| {
        let room = PACKAGES.iter().find_map(|package| path.strip_prefix(package)?.strip_prefix('/'));
        room.map(str::to_owned).unwrap_or(path)
    };
    let library = texts("src").into_iter().map(|(path, text)| (inside(path), text));
    let library = library.filter(|(path, _)| path.rsplit('/').next() != Some("lib.rs"));
    let members = MEMBERS.iter().flat_map(|(member, _)| {
        let inside = texts(&format!("{member}/src")).into_iter();
        inside.map(move |(path, text)| {
            (format!("{member}/{path}").replace("/lib.rs", "/mod.rs"), in_house(&text, member))
        })
    });
    library.chain(members).collect()
}

/// The text of a member's file with paths as they were if the member was a room.
fn in_house(text: &str, member: &str) -> String {
    let own = text.replace("crate::", &format!("crate::{member}::"));
    let members = MEMBERS.iter().fold(own, |text, (member, name)| text.replace(name, &format!("crate::{member}")));
    members.replace("leakbound::", "crate::")
}

#[test]
fn rooms_use_only_what_design_allows() {
    let root = Path::new(crate::ROOT);
    let rules = read_rules(&read(&root.join("DESIGN.md"))).unwrap();
    let exports = exports(&read(&root.join("src/core/lib.rs")));
    let mut wrong = Vec::new();
    // A file of tests alone may use anything.
    for (path, text) in house().into_iter().filter(|(path, _)| !path.ends_with("tests.rs")) {
        let mut parts: Vec<&str> = path.split('/').map(|part| part.trim_end_matches(".rs")).collect();
        parts.retain(|&part| part != "mod");
        let source = Source { room: parts[0], file: &path, depth: parts.len(), text: &text };
        wrong.extend(violations(&rules, &exports, &source));
    }
    assert!(wrong.is_empty(), "against the list in DESIGN.md:\n{}", wrong.join("\n"));
}

#[test]
fn no_files_of_a_room_use_each_other_in_a_circle() {
    let found = circles(&house());
    assert!(found.is_empty(), "these files use each other:\n{}", found.join("\n"));
}

#[test]
fn members_count_as_rooms() {
    let text = "use crate::args::Cli; use leakbound::{Error, distribution::Distribution}; fn f() { leakbound_train::train(); super::g() }";
    assert_eq!(
        in_house(text, "cli"),
        "use crate::cli::args::Cli; use crate::{Error, distribution::Distribution}; fn f() { crate::train::train(); super::g() }"
    );
}

#[test]
fn a_circle_of_files_is_detected() {
    let of = |texts: &[(&str, &str)]| {
        circles(&texts.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect::<Vec<_>>())
    };
    let none = [""; 0];
    // A re-export in mod.rs is no use of the file behind it, and a name is used where it is defined.
    let room = [("a/mod.rs", "mod b; mod c; pub use b::{B, other::X};"), ("a/b.rs", "use super::c::C;")];
    assert_eq!(of(&[room[0], room[1], ("a/c.rs", "fn f() {}")]), none);
    assert_eq!(of(&[room[0], room[1], ("a/c.rs", "use super::B;")]), ["a/b.rs -> a/c.rs", "a/c.rs -> a/b.rs"]);
    assert_eq!(of(&[room[0], room[1], ("a/c.rs", "fn f() { crate::a::B::new() }")]).len(), 2);
    // The root of a room is a file of it.
    let root = ("a/mod.rs", "mod b; struct A; fn f() { b::g(); }");
    assert_eq!(of(&[root, ("a/b.rs", "use super::{other, A};")]).len(), 2);
    // Tests may look at anything, and comments are no use.
    let tests = "// super::A\nfn g() {}\n#[cfg(test)]\nmod tests { use super::super::A; }";
    assert_eq!(of(&[root, ("a/b.rs", tests)]), none);
    assert_eq!(of(&[root, ("a/b.rs", &tests.replace("(test)", "(all(test, unix))"))]), none);
    // Rooms are another matter.
    assert_eq!(of(&[("a.rs", "use crate::b::B;"), ("b.rs", "use crate::a::A;")]), none);
}

/// What a user hands over is read by `json`, which takes no key twice; these read what this program wrote, or what a
/// program prints that is read so by the room itself.
const OWN_JSON: [&str; 5] =
    ["json.rs", "record/audit_journal.rs", "black_box/output.rs", "black_box/source.rs", "train/checkpoint.rs"];

#[test]
fn json_of_users_has_one_reader() {
    let mut wrong = Vec::new();
    for (path, text) in house().into_iter().filter(|(path, _)| !OWN_JSON.contains(&path.as_str())) {
        let code = code(&text);
        let tokens = tokens(code.split("#[cfg(test)]").next().unwrap_or(&code));
        let reads = |window: &&[&str]| {
            window[..2] == ["serde_json", "::"]
                && ["from_str", "from_slice", "from_reader", "Deserializer"].contains(&window[2])
        };
        // A file of tests alone.
        if !path.ends_with("tests.rs") && tokens.windows(3).any(|window| reads(&window)) {
            wrong.push(path);
        }
    }
    assert!(wrong.is_empty(), "these read JSON without `crate::json`:\n{}", wrong.join("\n"));
}

#[test]
fn nothing_unfinished_is_left() {
    let root = Path::new(crate::ROOT);
    let marks = ["todo!", "unimplemented!", "dbg!", "#[ignore"];
    let folders = ["src", "cli", "train", "tests", "benches", "examples", "validation", "xtask", "fft", "fuzz/src"];
    let mut wrong = Vec::new();
    for file in folders.iter().flat_map(|folder| files(&root.join(folder))) {
        let code = code(&read(&file));
        let found = marks.iter().filter(|&&mark| code.contains(mark));
        wrong.extend(found.map(|mark| format!("{}: {mark}", file.strip_prefix(root).unwrap().display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_forbidden_edge_is_detected() {
    let design = "# x\n```layering\nerror: nothing\ndistribution: error\naudit: error, distribution; never rand\n```\n";
    let rules = read_rules(design).unwrap();
    let exports = exports(
        "mod distribution;\npub use error::{Error, Result};\npub use distribution::{self as _, Distribution as Rule};",
    );
    let check = |room, depth, text| violations(&rules, &exports, &Source { room, file: "f.rs", depth, text });
    let allowed = [
        (
            "audit",
            1,
            "use crate::distribution::{Distribution, other::Thing}; use crate::error::Error; use crate::audit::x;",
        ),
        ("audit", 1, "use crate::{distribution::Distribution, error::{self, Error}};"),
        ("distribution", 1, "/// [`crate::audit::Bound`]\nfn f() { let s = \"crate::audit\"; } // crate::audit::x"),
        ("distribution", 1, "fn f<'a>(x: &'a str) -> char { '\"' } /* crate::audit::x /* nested */ */"),
        ("distribution", 1, "fn f() {}\n#[cfg(test)]\nmod tests { use crate::audit::Bound; use rand::Rng; }"),
        ("distribution", 2, "use super::sibling; pub(crate) fn f() {} pub(super) fn g() {}"),
        ("distribution", 1, "fn f() -> crate::Result<()> { Ok(()) }"),
    ];
    for (room, depth, text) in allowed {
        assert_eq!(check(room, depth, text), [""; 0], "{room}: {text}");
    }
    let forbidden = [
        ("distribution", 1, "use crate::audit::Bound;", "f.rs: distribution uses audit"),
        ("distribution", 1, "fn f() { crate :: audit\n::bound() }", "f.rs: distribution uses audit"),
        ("distribution", 1, "use crate::{error::{Error, Result}, audit::Bound};", "f.rs: distribution uses audit"),
        ("distribution", 1, "use super::audit::Bound;", "f.rs: distribution uses audit"),
        ("distribution", 2, "use super::super::{audit::Bound};", "f.rs: distribution uses audit"),
        ("distribution", 1, "macro_rules! m { () => { $crate::audit::x() } }", "f.rs: distribution uses audit"),
        ("distribution", 1, "let raw = r#\"a\"b\"#; crate::audit::x()", "f.rs: distribution uses audit"),
        ("error", 1, "use crate::Rule;", "f.rs: error uses distribution"),
        ("distribution", 1, "use crate::*;", "f.rs: distribution uses crate::*, which is no room"),
        ("distribution", 1, "use crate::extra::X;", "f.rs: distribution uses crate::extra, which is no room"),
        ("audit", 1, "use rand::Rng;", "f.rs: audit must never name rand"),
        (
            "distribution",
            1,
            "#[path = \"../audit.rs\"] mod own;",
            "f.rs: a path attribute moves a file to another room",
        ),
        ("attic", 1, "", "f.rs: the room attic is missing from the list"),
    ];
    for (room, depth, text, expected) in forbidden {
        assert_eq!(check(room, depth, text), [expected], "{room}: {text}");
    }
}

#[test]
fn the_list_itself_points_one_way() {
    let read = |lines: &str| read_rules(&format!("```layering\n{lines}\n```")).map(|_| ());
    assert_eq!(read("a: nothing\nb: a"), Ok(()));
    assert_eq!(read("a: b\nb: nothing"), Err("a may use b, which does not stand above it".into()));
    assert_eq!(read("a: nothing\na: nothing"), Err("a stands in the list twice".into()));
    assert_eq!(read("a nothing"), Err("`a nothing` is no `room: may use`".into()));
    assert!(read_rules("no block").is_err());
}

/// Reads lines such as `interval: error, special; never rand`; a room may use only rooms on lines above its own.
fn read_rules(design: &str) -> Result<Rules, String> {
    let block = design.split_once("```layering\n").and_then(|(_, rest)| rest.split_once("\n```"));
    let (block, _) = block.ok_or("DESIGN.md has no block `layering`")?;
    let names = |list: &str| -> BTreeSet<String> { list.split(',').map(|name| name.trim().to_owned()).collect() };
    let mut rules = Rules::new();
    for line in block.lines() {
        let (room, uses) = line.split_once(": ").ok_or_else(|| format!("`{line}` is no `room: may use`"))?;
        let (uses, never) = uses.split_once("; never ").map_or((uses, None), |(uses, never)| (uses, Some(never)));
        let rule = Rule {
            rooms: if uses == "nothing" { BTreeSet::new() } else { names(uses) },
            never: never.map(names).unwrap_or_default(),
        };
        if let Some(unknown) = rule.rooms.iter().find(|&used| !rules.contains_key(used)) {
            return Err(format!("{room} may use {unknown}, which does not stand above it"));
        }
        if rules.insert(room.to_owned(), rule).is_some() {
            return Err(format!("{room} stands in the list twice"));
        }
    }
    Ok(rules)
}

/// The room behind each name that lib.rs re-exports; the prelude is for other programs.
fn exports(lib: &str) -> BTreeMap<String, String> {
    let code = code(lib);
    let mut exports = BTreeMap::new();
    for (room, names) in code.split("\npub use ").skip(1).filter_map(|rest| rest.split(';').next()?.split_once("::")) {
        for name in names.trim_matches(['{', '}']).split(',') {
            let name = name.rsplit(" as ").next().unwrap_or(name);
            exports.insert(name.trim().to_owned(), room.trim().to_owned());
        }
    }
    exports
}

/// What is wrong in one file, in words.
fn violations(rules: &Rules, exports: &BTreeMap<String, String>, source: &Source) -> Vec<String> {
    let &Source { room, file, depth, text } = source;
    let Some(rule) = rules.get(room) else {
        return vec![format!("{file}: the room {room} is missing from the list")];
    };
    let code = code(text);
    let tokens = tokens(code.split("#[cfg(test)]").next().unwrap_or(&code));
    let mut wrong = BTreeSet::new();
    for name in from_root(&tokens, depth) {
        if name == room || name == "self" {
            continue;
        }
        let used = exports.get(name).map_or(name, String::as_str);
        if !rules.contains_key(used) {
            wrong.insert(format!("{file}: {room} uses crate::{name}, which is no room"));
        } else if used != room && !rule.rooms.contains(used) {
            wrong.insert(format!("{file}: {room} uses {used}"));
        }
    }
    for name in rule.never.iter().filter(|&name| tokens.contains(&name.as_str())) {
        wrong.insert(format!("{file}: {room} must never name {name}"));
    }
    if tokens.windows(3).any(|window| window == ["[", "path", "="]) {
        wrong.insert(format!("{file}: a path attribute moves a file to another room"));
    }
    wrong.into_iter().collect()
}

/// The uses of one file of a room by another that are part of a circle. A name counts for the file that defines it: one
/// that re-exports it is only a way to it.
fn circles(texts: &[(String, String)]) -> Vec<String> {
    let module = |path: &str| -> Vec<String> {
        let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
        path.split('/').map(str::to_owned).collect()
    };
    let codes: Vec<String> = texts.iter().map(|(_, text)| code(text)).collect();
    let mut modules = BTreeMap::new();
    for ((path, _), code) in texts.iter().zip(&codes) {
        let own = code.split("#[cfg(test)]").next().and_then(|code| code.split("#[cfg(all(test").next());
        modules.insert(module(path), (path.as_str(), paths(&tokens(own.unwrap_or_default()))));
    }
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (own, (path, paths)) in &modules {
        for (_, used) in paths.iter().filter(|(exported, _)| !exported) {
            let target = absolute(&modules, own, used).and_then(|target| defined_in(&modules, &target, 0));
            let Some(target) = target.filter(|target| target != own && target[0] == own[0]) else { continue };
            edges.entry(path).or_default().insert(modules[&target].0);
        }
    }
    // Whoever uses no file that is left, or is used by none, is in no circle.
    loop {
        let used: BTreeSet<&str> = edges.values().flatten().copied().collect();
        let outside: Vec<&str> = edges.keys().copied().filter(|file| !used.contains(file)).collect();
        outside.iter().for_each(|file| drop(edges.remove(file)));
        let left: BTreeSet<&str> = edges.keys().copied().collect();
        let before: usize = edges.values().map(BTreeSet::len).sum();
        edges.values_mut().for_each(|files| files.retain(|file| left.contains(file)));
        edges.retain(|_, files| !files.is_empty());
        if outside.is_empty() && before == edges.values().map(BTreeSet::len).sum::<usize>() {
            break;
        }
    }
    edges.iter().flat_map(|(file, used)| used.iter().map(move |used| format!("{file} -> {used}"))).collect()
}

/// A path as it is written, and whether it is re-exported.
type Written = (bool, Vec<String>);

type Modules<'a> = BTreeMap<Vec<String>, (&'a str, Vec<Written>)>;

/// A path from the root of the crate; none for one into another crate.
fn absolute(modules: &Modules<'_>, own: &[String], path: &[String]) -> Option<Vec<String>> {
    let ups = path.iter().take_while(|name| *name == "super").count();
    match path[0].as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([own, &path[1..]].concat()),
        "super" => Some([&own[..own.len().checked_sub(ups)?], &path[ups..]].concat()),
        child => modules.contains_key(&[own, &[child.to_owned()]].concat()).then(|| [own, path].concat()),
    }
}

/// The module that defines what a path from the root leads to.
fn defined_in(modules: &Modules<'_>, path: &[String], steps: usize) -> Option<Vec<String>> {
    let length = (1..=path.len()).rev().find(|&length| modules.contains_key(&path[..length]))?;
    let (own, rest) = path.split_at(length);
    let exported = rest.first().and_then(|name| {
        let found = modules[own].1.iter().find(|(exported, path)| *exported && path.last() == Some(name))?;
        absolute(modules, own, &found.1)
    });
    match exported.filter(|_| steps < 10) {
        Some(target) => defined_in(modules, &[&target, &rest[1..]].concat(), steps + 1),
        None => Some(own.to_vec()),
    }
}

/// All paths of a file: of `use` declarations, and those that are written out.
fn paths(tokens: &[&str]) -> Vec<Written> {
    let (mut paths, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        // `use<'a>` in a type captures lifetimes and declares nothing.
        if tokens[at] == "use" && tokens.get(at + 1) != Some(&"<") {
            let exported = at > 0 && ["pub", ")"].contains(&tokens[at - 1]);
            let mut found = Vec::new();
            at = branches(tokens, at + 1, &[], &mut found);
            paths.extend(found.into_iter().map(|path| (exported, path)));
            continue;
        }
        let starts = tokens.get(at + 1) == Some(&"::") && (at == 0 || tokens[at - 1] != "::");
        let mut path = vec![tokens[at].to_owned()];
        at += 1;
        while starts && tokens.get(at) == Some(&"::") {
            path.extend(tokens.get(at + 1).map(|name| (*name).to_owned()));
            at += 2;
        }
        if starts {
            paths.push((false, path));
        }
    }
    paths
}

/// The paths of a tree of `use` that begins here; the place after it.
pub fn branches(tokens: &[&str], mut at: usize, before: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = before.to_vec();
    while let Some(&token) = tokens.get(at) {
        match token {
            "::" => at += 1,
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|&token| token != "}" && token != ";") {
                    at = branches(tokens, at, &path, found);
                    at += usize::from(tokens.get(at) == Some(&","));
                }
                return at + 1;
            }
            "as" => at += 2,
            "," | "}" | ";" => break,
            name => {
                path.push(name.to_owned());
                at += 1;
            }
        }
    }
    found.push(path);
    at
}

/// The first name after every path to the crate's root: `crate::` or as many `super::` as the file is deep.
fn from_root<'a>(tokens: &[&'a str], depth: usize) -> Vec<&'a str> {
    let mut names = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let ups = tokens[at..].chunks(2).take_while(|pair| *pair == ["super", "::"]).count();
        let root = if ups > 0 { ups >= depth } else { tokens[at..].starts_with(&["crate", "::"]) };
        at += 2 * ups;
        if !root {
            at += usize::from(ups == 0);
            continue;
        }
        at += if ups == 0 { 2 } else { 0 };
        if tokens.get(at) != Some(&"{") {
            names.extend(tokens.get(at));
            continue;
        }
        // A group: the first name of each of its branches. The walk goes on inside it.
        let (mut open, mut expected) = (0, false);
        for &token in &tokens[at..] {
            match token {
                "{" => open += 1,
                "}" => open -= 1,
                _ if expected => names.push(token),
                _ => {}
            }
            expected = open == 1 && (token == "," || token == "{");
            if open == 0 {
                break;
            }
        }
    }
    names
}
