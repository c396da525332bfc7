//! Compiles the libvpx shim against the system's library.

fn main() {
    println!("cargo:rerun-if-changed=csrc/vpx.c");
    let vpx = match pkg_config::Config::new()
        .atleast_version("1.10")
        .probe("vpx")
    {
        Ok(vpx) => vpx,
        Err(error) => panic!(
            "libvpx 1.10 or later is needed to build weft-media. On Debian and Ubuntu: \
             apt install libvpx-dev pkg-config build-essential. pkg-config said: {error}"
        ),
    };
    cc::Build::new()
        .includes(&vpx.include_paths)
        .file("csrc/vpx.c")
        .compile("weftvpx");
    // The linker reads the shim before this line, so the library that it needs must be
    // named again after it.
    println!("cargo:rustc-link-lib=vpx");
}
