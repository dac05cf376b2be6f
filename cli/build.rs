//! Where a program that trains finds libtorch when it is started without cargo: those of this package, and the command
//! with its feature `torch`. `cli` and `train` have it each, since a package is published with its own files alone.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    let [package, torch, system] =
        ["CARGO_PKG_NAME", "CARGO_FEATURE_TORCH", "CARGO_CFG_TARGET_OS"].map(std::env::var_os);
    let trains = torch.is_some() || package.is_some_and(|name| name == "leakbound-train");
    if !trains || system.is_none_or(|system| system != "linux") {
        return;
    }
    // Next to the program's folder first, so that a copied target folder or an installed pair works.
    println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN/../libtorch/lib");
    if let Some(libtorch) = std::env::var_os("LIBTORCH") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}", Path::new(&libtorch).join("lib").display());
    }
}
