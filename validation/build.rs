//! Where these programs find libtorch if the library is built with its feature `torch`, as `--all-features` does.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    let linux = std::env::var_os("CARGO_CFG_TARGET_OS").is_some_and(|system| system == "linux");
    // A path that does not exist is passed over when a program starts.
    if let Some(libtorch) = std::env::var_os("LIBTORCH").filter(|_| linux) {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{}", std::path::Path::new(&libtorch).join("lib").display());
    }
}
