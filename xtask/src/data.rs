//! `cargo xtask data`: public data sets in the user's cache folder, without root.

use crate::command::{self, Outcome};
use crate::libtorch::{Scratch, cache_folder, sha256};
use std::path::{Path, PathBuf};

/// The Debian package with the files of Fashion-MNIST, MIT license (Xiao, Rasul and Vollgraf 2017).
const PACKAGE: &str = "dataset-fashion-mnist";

/// Where the package has them.
const INSIDE: &str = "usr/share/datasets/fashion-mnist";

/// The files and their checksums.
const FILES: [(&str, &str); 4] = [
    ("train-images-idx3-ubyte.gz", "b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7"),
    ("train-labels-idx1-ubyte.gz", "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056"),
    ("t10k-images-idx3-ubyte.gz", "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa"),
    ("t10k-labels-idx1-ubyte.gz", "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05"),
];

/// Prints the folder that holds the data, after putting them there from a package or a folder, or from Debian.
pub fn fashion_mnist(given: Option<&str>) -> Outcome {
    let place = cache_folder()?.join("fashion-mnist");
    if given.is_none() && checked(&place).is_ok() {
        println!("{}", place.display());
        return Ok(());
    }
    let parent = place.parent().unwrap_or(Path::new("."));
    let scratch = Scratch::new(parent, "fashion-mnist")?;
    let source = match given.map(PathBuf::from) {
        Some(folder) if folder.is_dir() => folder,
        Some(package) => unpacked(&package, &scratch.0)?,
        None => unpacked(&downloaded(&scratch.0)?, &scratch.0)?,
    };
    checked(&source)?;
    let ready = scratch.0.join("ready");
    let copy = |name: &str| std::fs::copy(source.join(name), ready.join(name));
    std::fs::create_dir(&ready)
        .and_then(|()| FILES.iter().try_for_each(|(name, _)| copy(name).map(|_| ())))
        .and_then(|()| if place.exists() { std::fs::remove_dir_all(&place) } else { Ok(()) })
        .and_then(|()| std::fs::rename(&ready, &place))
        .map_err(|error| format!("{}: {error}", place.display()))?;
    println!("{}", place.display());
    Ok(())
}

/// Whether a folder has all files as they were published.
fn checked(folder: &Path) -> Outcome {
    FILES.iter().try_for_each(|(name, sum)| {
        let file = folder.join(name);
        if !file.is_file() {
            return Err(format!("{} is missing", file.display()));
        }
        match sha256(&file)? {
            found if found == *sum => Ok(()),
            found => Err(format!("{}: sha256 {found}, expected {sum}", file.display())),
        }
    })
}

/// `apt-get download` needs no root; the package lists must be there.
fn downloaded(folder: &Path) -> Result<PathBuf, String> {
    let mut apt = command::program("apt-get");
    apt.args(["download", PACKAGE]).current_dir(folder);
    command::run_visibly(&mut apt).map_err(|error| {
        format!(
            "{error}; hint: where there is no apt-get, name a folder with {} and the other three files, or the Debian \
             package {PACKAGE} as a file",
            FILES[0].0
        )
    })?;
    let files = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    files
        .filter_map(|file| Some(file.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .ok_or_else(|| format!("apt-get downloaded no package {PACKAGE}"))
}

/// The files of a package, which is unpacked but not installed.
fn unpacked(package: &Path, scratch: &Path) -> Result<PathBuf, String> {
    if !package.is_file() {
        return Err(format!("{}: neither a folder nor a package", package.display()));
    }
    let folder = scratch.join("package");
    let mut dpkg = command::program("dpkg-deb");
    dpkg.arg("-x").arg(package).arg(&folder);
    command::run_visibly(&mut dpkg)?;
    Ok(folder.join(INSIDE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_another_file_is_named() {
        let scratch = Scratch::new(&std::env::temp_dir(), "leakbound-data").unwrap();
        assert!(checked(&scratch.0).unwrap_err().ends_with("train-images-idx3-ubyte.gz is missing"));
        std::fs::write(scratch.0.join(FILES[0].0), "x").unwrap();
        assert!(checked(&scratch.0).unwrap_err().ends_with(&format!("expected {}", FILES[0].1)));
        let nothing = unpacked(&scratch.0.join("nothing.deb"), &scratch.0).unwrap_err();
        assert!(nothing.ends_with("nothing.deb: neither a folder nor a package"), "{nothing}");
    }
}
