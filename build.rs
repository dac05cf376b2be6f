//! Where a program with the feature `torch` finds libtorch when it is started without cargo.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    let [torch, system] = ["CARGO_FEATURE_TORCH", "CARGO_CFG_TARGET_OS"].map(std::env::var_os);
    if torch.is_none() || system.is_none_or(|system| system != "linux") {
        return;
    }
    // Beside the program's folder first, so that a copied target folder or an installed pair works.
    println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN/../libtorch/lib");
    if let Some(libtorch) = std::env::var_os("LIBTORCH") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}", Path::new(&libtorch).join("lib").display());
    }
}
