//! Generates the parser from its grammar, and builds the run time and the elementary functions, which the compiler
//! embeds and links into every executable.

#[path = "build/math_text.rs"]
mod math_text;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    generate_parser();
    let core_math = package("core-math-sys").join("vendor/src/binary64");
    write_math_text(&core_math);
    let own = variable("TARGET");
    build(&own, &own, &core_math);
    let mut table = row(&own);
    // What else the compiler is to make programs for.
    println!("cargo::rerun-if-env-changed={TARGETS}");
    println!("cargo::rerun-if-env-changed={TARGET_COMPILER}");
    for target in env::var(TARGETS).unwrap_or_default().split([' ', ',']).filter(|target| !target.is_empty()) {
        if architecture(target) != architecture(&own) {
            build(target, &own, &core_math);
            table += &row(target);
        }
    }
    let path = PathBuf::from(variable("OUT_DIR")).join("runtimes.rs");
    fs::write(&path, format!("&[{table}]")).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

/// The variable of the environment that names further machines to make programs for, as rustc names them.
const TARGETS: &str = "VLAD_TARGETS";

/// The variable that names the Rust compiler that has the library `core` for these, if cargo's has not.
const TARGET_COMPILER: &str = "VLAD_TARGET_RUSTC";

/// The family of processors of a machine.
fn architecture(target: &str) -> &str {
    target.split('-').next().unwrap_or(target)
}

/// The folder for what is built for a machine.
fn folder(target: &str) -> PathBuf {
    PathBuf::from(variable("OUT_DIR")).join(target)
}

/// Builds what programs for a machine are linked with.
fn build(target: &str, own: &str, core_math: &Path) {
    let folder = folder(target);
    fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("cannot make {}: {error}", folder.display()));
    build_runtime("runtime", "vlad_runtime", target, own, &["--cfg", "vlad_archive"]);
    // What libraries contain has no `main`, and state of its own for each context. It is for x86-64 only.
    if architecture(target) == "x86_64" {
        let library = ["--cfg", "vlad_archive", "--cfg", "vlad_library", "-Adead_code"];
        build_runtime("runtime", "vlad_library", target, own, &library);
    }
    build_runtime("kernels", "vlad_kernels", target, own, &["--cfg", "vlad_archive"]);
    build_math(target, own, core_math);
}

/// The row of a machine in the table of run times that the compiler contains.
fn row(target: &str) -> String {
    let file = |name: &str| {
        let path = folder(target).join(name);
        if path.exists() { format!("include_bytes!({path:?})") } else { "&[]".to_string() }
    };
    format!(
        "RunTime {{ architecture: {:?}, executable: {}, library: {}, kernels: {}, math: {} }},\n",
        architecture(target),
        file("vlad_runtime.o"),
        file("vlad_library.o"),
        file("vlad_kernels.o"),
        file("libvlad_math.a"),
    )
}

/// Compiles the grammar of datums into the output directory.
fn generate_parser() {
    println!("cargo::rerun-if-changed=src/syntax/grammar.lalrpop");
    let generated = lalrpop::Configuration::new().use_cargo_dir_conventions().process();
    generated.unwrap_or_else(|error| panic!("the grammar cannot be compiled: {error}"));
}

/// Compiles the run time in one of its forms, or the kernels, into an object file of that name in the output directory.
///
/// Cargo cannot hand a static library to the package that embeds it, so the compiler is called directly; the run time
/// has no dependencies. Link-time optimisation leaves everything it needs in one member of the archive; the others
/// (arithmetic that the linker driver supplies as well) stay behind.
fn build_runtime(package: &str, name: &str, target: &str, own: &str, configuration: &[&str]) {
    let sources = Path::new(&variable("CARGO_MANIFEST_DIR")).join(format!("../{package}/src"));
    println!("cargo::rerun-if-changed={}", sources.display());
    let output = folder(target);
    let archive = output.join(format!("lib{name}.a"));
    let compiler = env::var(TARGET_COMPILER).ok().filter(|_| target != own);
    let mut command = Command::new(compiler.unwrap_or_else(|| variable("RUSTC")));
    command.arg(sources.join("lib.rs")).arg("-o").arg(&archive);
    command.args(["--crate-name", name, "--crate-type", "staticlib", "--edition", "2024"]);
    command.args(["--target", target]).args(configuration);
    command.args(["-Copt-level=3", "-Cpanic=abort", "-Ccodegen-units=1", "-Clto=fat", "-Cdebuginfo=0"]);
    command.args(["-Crelocation-model=pic", "-Cforce-frame-pointers=yes"]);
    if architecture(target) == "aarch64" {
        // Atomic operations would be calls of functions that the C compiler supplies.
        command.arg("-Ctarget-feature=-outline-atomics");
    }
    // Executables are the same wherever the compiler was built.
    command.arg(format!("--remap-path-prefix={}={package}/src", sources.display()));
    let status = command.status().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    let help = if target == own { String::new() } else { format!("; perhaps `rustup target add {target}` is missing") };
    assert!(status.success(), "{command:?} failed{help}");
    let bytes = fs::read(&archive).unwrap_or_else(|error| panic!("cannot read {}: {error}", archive.display()));
    let member = member(&bytes, &format!("{name}.")).expect("the archive has the run time's own object");
    fs::write(output.join(format!("{name}.o")), member).expect("the output directory can be written");
}

/// The elementary functions, with the number of their operands.
const MATH: &[(&str, u32)] = &[
    ("acos", 1),
    ("asin", 1),
    ("atan", 1),
    ("atan2", 2),
    ("cos", 1),
    ("cosh", 1),
    ("erf", 1),
    ("erfc", 1),
    ("exp", 1),
    ("expm1", 1),
    ("lgamma", 1),
    ("log", 1),
    ("log1p", 1),
    ("pow", 2),
    ("sin", 1),
    ("sinh", 1),
    ("tan", 1),
    ("tanh", 1),
    ("tgamma", 1),
];

/// The elementary functions that are computed of several numbers at a time.
const IN_LANES: &[&str] = &["exp", "log", "log1p", "tanh"];

/// Compiles the elementary functions into `libvlad_math.a` in the folder of a machine, and links those for its own
/// machine into the compiler.
fn build_math(target: &str, own: &str, core_math: &Path) {
    let dispatch_source = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../runtime/math/dispatch.c");
    println!("cargo::rerun-if-changed={}", dispatch_source.display());
    let output = folder(target);
    let compiler = || {
        let mut build = cc::Build::new();
        build.target(target).cargo_metadata(target == own);
        build
    };
    let x86 = architecture(target) == "x86_64";
    let mut archive = compiler();
    archive.out_dir(&output);
    for (name, operands) in MATH {
        let source = core_math.join(name).join(format!("{name}.c"));
        // Object files are called like their sources, so each kind gets a folder of its own.
        let kind = |kind: &str| {
            let mut build = compiler();
            build
                .opt_level(2)
                .debug(false)
                .pic(true)
                .warnings(false)
                .out_dir(output.join("math").join(name).join(kind));
            build
        };
        archive.objects(kind("plain").file(&source).compile_intermediates());
        if x86 {
            let mut fused = kind("fused");
            fused.flag("-march=x86-64-v3").define(&format!("cr_{name}"), format!("fma_cr_{name}").as_str());
            archive.objects(fused.file(&source).compile_intermediates());
        }
        // These are tried by a quicker way of our own.
        if matches!(*name, "sin" | "cos") || *name == "tanh" && x86 {
            continue;
        }
        let mut dispatch = kind("dispatch");
        dispatch.define("FUNCTION", *name).define("OPERANDS", operands.to_string().as_str());
        if *name == "log" {
            dispatch.define("LOGARITHM", None);
        }
        archive.objects(dispatch.file(&dispatch_source).compile_intermediates());
    }
    let beside = |name: &str| {
        let path = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../runtime/math").join(name);
        println!("cargo::rerun-if-changed={}", path.display());
        path
    };
    for header in ["lanes.h", "processor.h"] {
        beside(header);
    }
    let tables = output.join("math");
    fs::create_dir_all(&tables)
        .and_then(|()| fs::write(tables.join("circle.h"), circle()))
        .and_then(|()| fs::write(tables.join("tables.h"), powers() + &inverses()))
        .unwrap_or_else(|error| panic!("cannot write to {}: {error}", tables.display()));
    let beneath = |folder: &str| {
        let mut build = compiler();
        build
            .opt_level(2)
            .debug(false)
            .pic(true)
            .include(&tables)
            .flag("-ffp-contract=off")
            .out_dir(tables.join(folder));
        build
    };
    for name in IN_LANES {
        let mut choice = beneath(&format!("{name}/lanes"));
        choice.define("FUNCTION", *name);
        if *name == "tanh" {
            choice.define("LONE", None);
        }
        archive.objects(choice.file(beside("lanes.c")).compile_intermediates());
        for (count, instructions) in [("2", "-mavx2"), ("4", "-mavx2"), ("8", "-mavx512f")].iter().filter(|_| x86) {
            let mut lanes = beneath(&format!("{name}/lanes{count}"));
            // Of the tables each function has its own, and all are in one file.
            lanes.flag("-mfma").flag(instructions).flag("-Wno-unused").warnings(false);
            lanes.define("FUNCTION", *name).define("LANES", *count);
            archive.objects(lanes.file(beside("elementary.c")).compile_intermediates());
        }
    }
    let sources = ["processor.c", "roundeven.c", "shifts.c", "sin_cos.c"].map(beside);
    archive.objects(beneath("own").files(&sources).compile_intermediates());
    archive.compile("vlad_math");
}

/// A table of the elementary functions as texts in C, for programs that are written as one file.
fn write_math_text(core_math: &Path) {
    let output = PathBuf::from(variable("OUT_DIR"));
    let folder = output.join("math-text");
    let write = |path: &Path, text: &str| {
        fs::write(path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    };
    fs::create_dir_all(&folder).expect("the output directory can be written");
    let mut table = "const MATH: &[(&str, &str)] = &[\n".to_string();
    for (name, _) in MATH {
        let path = folder.join(format!("{name}.c"));
        write(&path, &math_text::text(&core_math.join(name), name));
        table += &format!("    ({name:?}, include_str!({path:?})),\n");
    }
    write(&output.join("math_text.rs"), &(table + "];\n"));
}

/// The powers of 2 by multiples of 1/64 and of 1/4096, as tables in C of sums of two doubles.
fn powers() -> String {
    let mut text = String::new();
    for (name, halvings) in [("COARSE", 6), ("FINE", 12)] {
        let step = (0..halvings).fold((2.0, 0.0), |power, _| root(power));
        let rows = std::iter::successors(Some((1.0, 0.0)), |power| Some(product(*power, step)));
        let rows: String = rows.take(64).map(|(high, low)| format!("{{ {high:e}, {low:e} }},\n")).collect();
        text += &format!("static const double {name}[64][2] = {{\n{rows}}};\n");
    }
    text
}

/// Sine and cosine of the multiples of pi/256 below pi, as a table in C: two doubles, and what is left of each.
fn circle() -> String {
    let one = (1.0, 0.0);
    // A quarter of the circle, halved again and again.
    let (mut cosine, mut sine) = ((0.0, 0.0), one);
    for _ in 0..7 {
        cosine = root(total((0.5, 0.0), product(cosine, (0.5, 0.0))));
        sine = quotient(sine, product(cosine, (2.0, 0.0)));
    }
    let turn = |&(c, s): &(Double, Double)| {
        let cosine_next = total(product(c, cosine), product(negative(s), sine));
        Some((cosine_next, total(product(s, cosine), product(c, sine))))
    };
    let eighth: Vec<(Double, Double)> = std::iter::successors(Some((one, (0.0, 0.0))), turn).take(65).collect();
    let mut rows = String::new();
    for k in 0..256 {
        let (in_half, is_left) = if k > 128 { (256 - k, true) } else { (k, false) };
        let (c, s) = if in_half > 64 { (eighth[128 - in_half].1, eighth[128 - in_half].0) } else { eighth[in_half] };
        let c = if is_left { negative(c) } else { c };
        rows += &format!("{{ {:e}, {:e}, {:e}, {:e} }},\n", s.0, c.0, s.1, c.1);
    }
    format!("static const double CIRCLE[256][4] = {{\n{rows}}};\n")
}

/// For intervals of numbers around 1, from ORIGIN to twice that: a number c of few bits which is close to the inverse
/// of all of them, and -log(c) as a multiple of 2^-42 and what is left; and log 2 alike. A table in C.
fn inverses() -> String {
    /// The bits of the first number; 1 is in the middle of an interval.
    const ORIGIN: u64 = 0x3fe6_0800_0000_0000;
    /// How far the bits of two numbers in neighbouring intervals are from each other.
    const WIDTH: u64 = 1 << 44;
    let mut rows = String::new();
    for k in 0..256 {
        let first = ORIGIN + k * WIDTH;
        let inverse = 1.0 / f64::from_bits(first + WIDTH / 2);
        let bits = if inverse > 1.0 { 256.0 } else { 512.0 };
        let c = (inverse * bits).round() / bits;
        let (high, low) = split(negative(logarithm(c)));
        let is_smaller = |end| (f64::from_bits(end) * c - 1.0).abs() <= high.abs();
        assert!(c == 1.0 || is_smaller(first) && is_smaller(first + WIDTH), "what is added to -log({c}) is larger");
        rows += &format!("{{ {c:e}, {high:e}, {low:e} }},\n");
    }
    let (high, low) = split(logarithm(2.0));
    format!(
        "#define ORIGIN {ORIGIN:#x}ll\n#define LOG2_HIGH {high:e}\n#define LOG2_LOW {low:e}\n\
         static const double INVERSES[256][3] = {{\n{rows}}};\n"
    )
}

/// The closest multiple of 2^-42, and what is left.
fn split((a, b): Double) -> Double {
    let unit = (-42_f64).exp2();
    let high = (a / unit).round() * unit;
    (high, (a - high) + b)
}

/// The logarithm of a number around 1, by the series of the inverse hyperbolic tangent.
fn logarithm(x: f64) -> Double {
    let ratio = quotient((x - 1.0, 0.0), (x + 1.0, 0.0));
    let square = product(ratio, ratio);
    let one = (1.0, 0.0);
    let series = (0..40)
        .rev()
        .fold((0.0, 0.0), |sum, k| total(quotient(one, (f64::from(2 * k + 1), 0.0)), product(square, sum)));
    product((2.0, 0.0), product(ratio, series))
}

/// A sum of two doubles, of which the first is the closest to it.
type Double = (f64, f64);

/// The sum of two doubles as one and what is left, the first being larger.
fn sum(x: f64, y: f64) -> Double {
    (x + y, (x - (x + y)) + y)
}

/// The product of two sums of two doubles.
fn product((a, b): Double, (x, y): Double) -> Double {
    sum(a * x, a.mul_add(x, -(a * x)) + (a * y + b * x))
}

fn negative((a, b): Double) -> Double {
    (-a, -b)
}

fn total((a, b): Double, (x, y): Double) -> Double {
    let (high, low) = if a.abs() > x.abs() { sum(a, x) } else { sum(x, a) };
    sum(high, low + (b + y))
}

fn quotient((a, b): Double, (x, y): Double) -> Double {
    let first = a / x;
    sum(first, (first.mul_add(-x, a) + (b - first * y)) / x)
}

/// The square root of a sum of two doubles, by a step of Newton's method from that of the first.
fn root((a, b): Double) -> Double {
    let first = a.sqrt();
    sum(first, (first.mul_add(-first, a) + b) / (2.0 * first))
}

/// The folder with the sources of a package that the build script depends on.
///
/// `core-math-sys` compiles its C files for the machine at hand only and does not say where they are, so cargo is
/// asked.
fn package(name: &str) -> PathBuf {
    let mut command = Command::new(variable("CARGO"));
    command.args(["metadata", "--format-version=1", "--filter-platform", &variable("HOST")]);
    command.arg("--manifest-path").arg(Path::new(&variable("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    let output = command.output().unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
    assert!(output.status.success(), "{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("cargo lists packages");
    let found = packages.iter().find(|package| package["name"] == name);
    let manifest = found.and_then(|package| package["manifest_path"].as_str());
    let manifest = Path::new(manifest.unwrap_or_else(|| panic!("{name} is a dependency")));
    manifest.parent().expect("a manifest is in a folder").to_owned()
}

/// The member of an archive (in the format of System V) whose name contains the text.
fn member<'a>(archive: &'a [u8], text: &str) -> Option<&'a [u8]> {
    const HEADER: usize = 60;
    let mut rest = archive.strip_prefix(b"!<arch>\n")?;
    let mut long_names = "";
    while rest.len() > HEADER {
        let header = std::str::from_utf8(&rest[..HEADER]).ok()?;
        let size: usize = header[48..58].trim().parse().ok()?;
        let content = rest.get(HEADER..HEADER + size)?;
        let mut name = header[..16].trim();
        if name == "//" {
            long_names = std::str::from_utf8(content).ok()?;
        } else if let Ok(offset) = name[1..].parse::<usize>() {
            name = long_names.get(offset..)?.lines().next()?;
        }
        if name.contains(text) {
            return Some(content);
        }
        rest = rest.get(HEADER + size.next_multiple_of(2)..)?;
    }
    None
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|error| panic!("cargo sets {name}: {error}"))
}
