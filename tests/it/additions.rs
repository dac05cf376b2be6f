//! What it takes to add a mechanism, an attack, a method or a command: one file, and lines of one list. The patches are
//! toys; `cargo xtask validate additions` builds and runs them.

use crate::source::read;
use std::path::Path;

/// Lines of a part of a patch that begin with a sign, without it.
fn lines<'a>(part: &'a str, signs: &[char]) -> Vec<&'a str> {
    let lines = part.lines().filter(|line| !line.starts_with("+++") && !line.starts_with("---"));
    lines.filter_map(|line| line.strip_prefix(signs)).collect()
}

#[test]
fn an_addition_is_one_file_and_lines_of_one_list() {
    let root = Path::new(crate::ROOT);
    let guide = read(&root.join("CONTRIBUTING.md"));
    for name in ["mechanism", "attack", "method", "command"] {
        let patch = read(&root.join(format!("validation/additions/{name}.patch")));
        let files: Vec<&str> = patch.split("diff --git ").skip(1).collect();
        let (new, changed): (Vec<&str>, Vec<&str>) = files.iter().partition(|file| file.contains("\nnew file mode "));
        let ([new], [changed]) = (&new[..], &changed[..]) else { panic!("{name}: {} files", files.len()) };
        let path = |file: &str| root.join(file.split(" b/").nth(1).unwrap().lines().next().unwrap());
        assert!(!path(new).exists() && path(changed).ends_with("mod.rs"), "{name}");
        let length = lines(new, &['+']).len();
        assert!(new.contains(&format!("\n@@ -0,0 +1,{length} @@\n")), "{name}: the file has {length} lines");
        let text = read(&path(changed));
        for (_, hunk) in changed.split("\n@@ ").skip(1).filter_map(|hunk| hunk.split_once('\n')) {
            let before = lines(hunk, &[' ', '-']).join("\n");
            assert_eq!(text.matches(&format!("\n{before}\n")).count(), 1, "{name}: it does not apply at\n{before}");
        }
        let added = lines(changed, &['+']);
        assert!(added.len() <= 3, "{name}: {added:?}");
        for line in added {
            assert!(guide.contains(&format!("\n+{line}\n")), "CONTRIBUTING.md does not show `{line}` of {name}.patch");
        }
    }
}
