//! The public names of the library: each of its rooms has its own, and together they are not many.

use crate::layering::branches;
use crate::source::{code, read, tokens};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The packages that a user of `leakbound` sees as one.
const PACKAGES: [&str; 8] = ["core", "audit", "mechanisms", "attacks", "checks", "record", "study", "report"];

/// As many names as there are, but for the six quantities and `Method`, which macros make. A new one is a decision: raise
/// this number, or hide what only packages above need.
const MOST: usize = 699;

/// What a file makes public: modules, and other names.
#[derive(Debug, Default, PartialEq)]
struct Public {
    modules: Vec<String>,
    names: Vec<String>,
}

#[test]
fn no_two_rooms_have_the_same_public_name() {
    let (names, homonyms) = names_of_library();
    assert!(homonyms.is_empty(), "these have several meanings:\n{}", homonyms.join("\n"));
    assert!(names <= MOST, "{names} public names; {MOST} are enough");
}

#[test]
fn hidden_and_private_names_are_no_public_ones() {
    let found = public(
        "#[doc(hidden)]\npub mod a;\npub mod b;\n#[path = \"x.rs\"]\npub mod c { pub fn inside() {} }\n\
         #[derive(Debug)]\n#[doc(hidden)]\npub struct Hidden { pub field: u8 }\npub(crate) enum Own {}\n\
         pub const fn f<'a>(x: &'a [u8; 2]) -> u8 { pub_() }\npub const N: [u8; 2] = [0; 2];\npub unsafe trait T {}\n\
         pub use d::{E, g::{H, I as J}};\n#[doc(hidden)]\npub use d::K;\nimpl E { pub fn method() {} }\nmod l;",
    );
    let names = ["f", "N", "T", "E", "H", "I"].map(String::from).to_vec();
    assert_eq!(found, Public { modules: ["b", "c"].map(String::from).to_vec(), names });
}

/// How many public names there are, and those that are in two places, with the places.
fn names_of_library() -> (usize, Vec<String>) {
    let mut places = BTreeMap::new();
    for package in PACKAGES {
        let folder = Path::new(crate::ROOT).join("src").join(package);
        collect(&folder.join("lib.rs"), "", &mut places);
    }
    let names = places.values().map(Vec::len).sum();
    let several = places.into_iter().filter(|(_, places)| places.len() > 1);
    (names, several.map(|(name, places)| format!("{name}: {}", places.join(", "))).collect())
}

/// The names of a file and of the public modules below it; what the root of a package repeats is in its room.
fn collect(file: &Path, place: &str, places: &mut BTreeMap<String, Vec<String>>) {
    let found = public(&read(file));
    if !place.is_empty() {
        found.names.into_iter().for_each(|name| places.entry(name).or_default().push(place.to_owned()));
    }
    for module in found.modules {
        if let Some(file) = file_of(file, &module) {
            collect(&file, format!("{place}::{module}").trim_start_matches(':'), places);
        }
    }
}

/// The file of a module that another file declares; none for one within that file.
fn file_of(parent: &Path, module: &str) -> Option<PathBuf> {
    let is_root = ["lib.rs", "mod.rs"].iter().any(|root| parent.ends_with(root));
    let folder = if is_root { parent.parent()?.to_owned() } else { parent.with_extension("") };
    let mut paths = vec![folder.join(format!("{module}.rs")), folder.join(module).join("mod.rs")];
    // The one room of a package is its folder.
    paths.extend(folder.ends_with(module).then(|| folder.join("mod.rs")));
    paths.into_iter().find(|path| path.is_file())
}

/// What is public at the top of a file and is not hidden. What a macro makes is not looked at.
fn public(text: &str) -> Public {
    let code = code(text);
    let tokens = tokens(&code);
    let (mut found, mut at, mut open, mut hidden) = (Public::default(), 0, 0, false);
    while at < tokens.len() {
        let rest = &tokens[at..];
        at += 1;
        match rest[0] {
            "{" | "(" | "[" => open += 1,
            ")" | "]" => open -= 1,
            "}" => {
                open -= 1;
                hidden &= open > 0;
            }
            ";" => hidden &= open > 0,
            "#" if open == 0 => hidden |= rest.starts_with(&["#", "[", "doc", "(", "hidden"]),
            "pub" if open == 0 && rest.get(1) == Some(&"use") => {
                let mut paths = Vec::new();
                at = branches(&tokens, at + 1, &[], &mut paths);
                let last = paths.into_iter().filter_map(|mut path| path.pop());
                found.names.extend(last.filter(|_| !hidden));
            }
            "pub" if open == 0 && !hidden && rest.get(1) != Some(&"(") => {
                let kinds = ["struct", "enum", "union", "trait", "fn", "const", "type", "static", "mod"];
                let item = rest[1..].windows(2).find(|pair| kinds.contains(&pair[0]) && pair[1] != "fn");
                if let Some(&[kind, name]) = item {
                    let list = if kind == "mod" { &mut found.modules } else { &mut found.names };
                    list.push(name.to_owned());
                }
            }
            _ => {}
        }
    }
    found
}
