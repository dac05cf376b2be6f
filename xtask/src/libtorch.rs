//! `cargo xtask libtorch`: the library behind the feature `torch`, without root and without a GPU.
//!
//! The Python wheels of PyTorch hold the C++ library too. Of the 530 MB only the headers and the libraries of the
//! processor are unpacked; those link to two small libraries of CUDA whether there is a GPU or not. Downloads stay in
//! the user's cache folder, so that a second clone only unpacks.

use crate::command::{self, Outcome};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The platform of the wheels.
const PLATFORM: (&str, &str) = ("linux", "x86_64");

/// What is downloaded, and which parts of it are unpacked to where; a name that ends in `/` is a folder.
struct Wheel {
    requirement: &'static str,
    file: &'static str,
    sha256: &'static str,
    parts: &'static [(&'static str, &'static str)],
}

/// PyTorch 2.11, which tch 0.24 expects. The C++ library is the same for every version of Python.
const WHEELS: [Wheel; 3] = [
    Wheel {
        requirement: "torch==2.11.0",
        file: "torch-2.11.0-cp312-cp312-manylinux_2_28_x86_64.whl",
        sha256: "0f68f4ac6d95d12e896c3b7a912b5871619542ec54d3649cf48cc1edd4dd2756",
        parts: &[
            ("torch/include/", "include/"),
            ("torch/lib/libtorch_cpu.so", "lib/libtorch_cpu.so"),
            ("torch/lib/libc10.so", "lib/libc10.so"),
            ("torch/lib/libgomp.so.1", "lib/libgomp.so.1"),
        ],
    },
    Wheel {
        requirement: "nvidia-cuda-cupti==13.0.85",
        file: "nvidia_cuda_cupti-13.0.85-py3-none-manylinux_2_25_x86_64.whl",
        sha256: "4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8",
        parts: &[("nvidia/cu13/lib/libcupti.so.13", "lib/libcupti.so.13")],
    },
    Wheel {
        requirement: "nvidia-cuda-runtime==13.0.96",
        file: "nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
        sha256: "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
        parts: &[("nvidia/cu13/lib/libcudart.so.13", "lib/libcudart.so.13")],
    },
];

/// Files made here. The wheel's own `libtorch.so` pulls in the libraries of CUDA; torch-sys only has to find the name.
const MADE: [(&str, &str); 2] = [
    ("lib/libtorch.so", "/* The linker finds torch in torch_cpu. */\nINPUT(libtorch_cpu.so)\n"),
    ("build-version", "2.11.0\n"),
];

/// Unpacks the members of a zip file: `zip folder (from to)...`.
const UNPACK: &str = "\
import pathlib, shutil, sys, zipfile
archive, folder, parts = zipfile.ZipFile(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
for start, to in zip(parts[::2], parts[1::2]):
    names = [n for n in archive.namelist() if n == start or (start.endswith('/') and n.startswith(start))]
    if not names:
        sys.exit(f'{sys.argv[1]}: no member {start}')
    for name in names:
        if name.endswith('/'):
            continue
        path = folder / (to + name[len(start):])
        path.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(name) as source, open(path, 'wb') as target:
            shutil.copyfileobj(source, target, 1 << 20)
";

/// Makes libtorch ready: one's own if `LIBTORCH` names one, otherwise the wheels in `target/libtorch`.
pub fn run() -> Outcome {
    let ours = command::root().join("target/libtorch");
    if let Some(folder) = std::env::var_os("LIBTORCH").map(PathBuf::from).filter(|folder| *folder != ours) {
        return given(&folder);
    }
    if complete(&ours) {
        println!("libtorch: ready in target/libtorch");
        return Ok(());
    }
    if (std::env::consts::OS, std::env::consts::ARCH) != PLATFORM {
        return Err(format!(
            "libtorch is unpacked for {} {} only, and this is {} {}; set LIBTORCH to a libtorch 2.11 of your own",
            PLATFORM.0,
            PLATFORM.1,
            std::env::consts::OS,
            std::env::consts::ARCH
        ));
    }
    let cache = cache_folder()?.join("wheels");
    for wheel in &WHEELS {
        fetch(wheel, &cache)?;
    }
    unpack(&cache, &ours)
}

/// A libtorch of the user's own is taken as it is.
fn given(folder: &Path) -> Outcome {
    match ["include", "lib/libtorch_cpu.so"].iter().find(|part| !folder.join(part).exists()) {
        None => {
            println!("libtorch: LIBTORCH={} is used", folder.display());
            Ok(())
        }
        Some(part) => Err(format!(
            "LIBTORCH={} holds no {part}; name a libtorch 2.11, or unset it and this command unpacks one",
            folder.display()
        )),
    }
}

/// The folder of the shared libraries that [`run`] makes ready.
pub fn libraries() -> PathBuf {
    let ours = || command::root().join("target/libtorch");
    std::env::var_os("LIBTORCH").map_or_else(ours, PathBuf::from).join("lib")
}

/// The user's cache folder of this project.
pub fn cache_folder() -> Result<PathBuf, String> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".cache")))
        .map(|folder| folder.join("leakbound"))
        .ok_or_else(|| "neither XDG_CACHE_HOME nor HOME names a folder for downloads".into())
}

/// What the finished folder says about itself; another version of this program replaces it.
fn contents() -> String {
    let wheels = WHEELS.iter().flat_map(|wheel| {
        std::iter::once(format!("{} {}", wheel.sha256, wheel.file))
            .chain(wheel.parts.iter().map(|(from, to)| format!("{from} -> {to}")))
    });
    wheels.chain(MADE.map(|(name, text)| format!("{name}: {text}"))).collect::<Vec<_>>().join("\n")
}

/// Written last: what lacks it was interrupted.
fn seal(folder: &Path) -> PathBuf {
    folder.join("complete")
}

fn complete(folder: &Path) -> bool {
    std::fs::read_to_string(seal(folder)).is_ok_and(|text| text == contents())
}

/// Downloads a wheel unless it is there; it gets its name only when its checksum is right.
fn fetch(wheel: &Wheel, cache: &Path) -> Outcome {
    let place = cache.join(wheel.file);
    if place.exists() {
        match checked(&place, wheel) {
            Ok(()) => return Ok(()),
            Err(_) => remove(&place)?,
        }
    }
    let part = Scratch::new(cache, "download")?;
    let mut pip = command::program("python3");
    pip.args(["-m", "pip", "download", "--no-deps", "--disable-pip-version-check", "--only-binary=:all:"])
        .args(["--python-version", "3.12", "--implementation", "cp", "--abi", "cp312", "--abi", "none"])
        .args(
            ["manylinux_2_28_x86_64", "manylinux_2_25_x86_64", "manylinux2014_x86_64"]
                .map(|name| format!("--platform={name}")),
        )
        .arg("--dest")
        .arg(&part.0)
        .arg(wheel.requirement);
    command::run_visibly(&mut pip)
        .map_err(|error| format!("{error}; hint: it needs a network and python3 with pip"))?;
    let downloaded = part.0.join(wheel.file);
    checked(&downloaded, wheel)?;
    std::fs::rename(&downloaded, &place).map_err(|error| format!("{}: {error}", place.display()))
}

/// Whether a file is the wheel that this program knows.
fn checked(file: &Path, wheel: &Wheel) -> Outcome {
    let found = sha256(file)?;
    if found == wheel.sha256 {
        return Ok(());
    }
    Err(format!("{}: sha256 {found}, expected {}", file.display(), wheel.sha256))
}

/// The checksum of a file; the standard library has none.
pub fn sha256(file: &Path) -> Result<String, String> {
    let mut sum = command::program("sha256sum");
    let output = sum.arg("--").arg(file).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| command::failure(&sum, &error))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // A backslash first means that the file's name is escaped.
    match text.trim_start_matches('\\').split_whitespace().next() {
        Some(sum) if output.status.success() => Ok(sum.to_owned()),
        _ => Err(command::failure(&sum, &output.status)),
    }
}

/// Unpacks beside the place and renames at the end: a half-done folder is never taken for a whole one.
fn unpack(cache: &Path, place: &Path) -> Outcome {
    let target = place.parent().unwrap_or(Path::new("."));
    let part = Scratch::new(target, "libtorch")?;
    for wheel in &WHEELS {
        let mut python = command::program("python3");
        let pairs = wheel.parts.iter().flat_map(|(from, to)| [from, to]);
        python.args(["-c", UNPACK]).arg(cache.join(wheel.file)).arg(&part.0).args(pairs);
        println!("libtorch: unpacking {}", wheel.file);
        let status = python.status().map_err(|error| command::failure(&python, &error))?;
        if !status.success() {
            return Err(format!("{} cannot be unpacked into {}: {status}", wheel.file, target.display()));
        }
    }
    let write =
        |path: PathBuf, text: &str| std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()));
    for (name, text) in MADE {
        write(part.0.join(name), text)?;
    }
    write(seal(&part.0), &contents())?;
    if place.exists() {
        remove(place)?;
    }
    std::fs::rename(&part.0, place).map_err(|error| format!("{}: {error}", place.display()))?;
    println!("libtorch: ready in target/libtorch");
    Ok(())
}

fn remove(path: &Path) -> Outcome {
    let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    removed.map_err(|error| format!("{}: {error}", path.display()))
}

/// A folder for unfinished work, removed when it goes out of scope.
pub struct Scratch(pub PathBuf);

impl Scratch {
    /// A new folder; those of processes that were killed are cleared away.
    pub fn new(parent: &Path, name: &str) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", parent.display());
        std::fs::create_dir_all(parent).map_err(failed)?;
        let start = format!("{name}.partial-");
        for entry in std::fs::read_dir(parent).map_err(failed)?.flatten() {
            let process = entry.file_name().to_str().and_then(|name| name.strip_prefix(&start)).map(OsString::from);
            if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
                remove(&entry.path())?;
            }
        }
        let folder = parent.join(format!("{start}{}", std::process::id()));
        if folder.exists() {
            remove(&folder)?;
        }
        std::fs::create_dir(&folder).map_err(failed)?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Renamed when all went well.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_its_seal_is_not_complete() {
        let scratch = Scratch::new(&std::env::temp_dir(), "leakbound-seal").unwrap();
        assert!(!complete(&scratch.0));
        std::fs::write(seal(&scratch.0), "half").unwrap();
        assert!(!complete(&scratch.0));
        std::fs::write(seal(&scratch.0), contents()).unwrap();
        assert!(complete(&scratch.0));
    }

    #[test]
    fn a_libtorch_of_ones_own_must_hold_headers_and_library() {
        let scratch = Scratch::new(&std::env::temp_dir(), "leakbound-given").unwrap();
        assert!(given(&scratch.0).unwrap_err().contains("holds no include"));
        std::fs::create_dir_all(scratch.0.join("include")).unwrap();
        std::fs::create_dir_all(scratch.0.join("lib")).unwrap();
        assert!(given(&scratch.0).unwrap_err().contains("holds no lib/libtorch_cpu.so"));
        std::fs::write(scratch.0.join("lib/libtorch_cpu.so"), "").unwrap();
        assert_eq!(given(&scratch.0), Ok(()));
    }

    #[test]
    fn a_checksum_is_that_of_the_bytes() {
        let scratch = Scratch::new(&std::env::temp_dir(), "leakbound-sum").unwrap();
        let file = scratch.0.join("abc");
        std::fs::write(&file, "abc").unwrap();
        // FIPS 180-2, appendix B.1.
        assert_eq!(sha256(&file).unwrap(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert!(checked(&file, &WHEELS[0]).unwrap_err().contains(WHEELS[0].sha256));
    }

    #[test]
    fn folders_of_dead_processes_are_cleared_away() {
        let parent = Scratch::new(&std::env::temp_dir(), "leakbound-dead").unwrap();
        let dead = parent.0.join("x.partial-999999999");
        std::fs::create_dir(&dead).unwrap();
        let scratch = Scratch::new(&parent.0, "x").unwrap();
        assert!(scratch.0.exists() && !dead.exists());
    }
}
