//! scratch
use std::path::Path;
fn main() {
    let child = std::thread::Builder::new().stack_size(1 << 30).spawn(go).expect("t");
    let code = child.join().unwrap_or(101);
    std::process::exit(code);
}
fn go() -> i32 {
    let path = std::env::args().nth(1).expect("arg");
    let mut sources = vlad::base::SourceMap::default();
    let mut p = match vlad::expand::expand_file(Path::new(&path), &vlad::expand::Options::default(), &mut sources) {
        Ok(p) => p,
        Err(ds) => {
            for d in ds {
                eprint!("{}", d.render(&sources, false));
            }
            return 1;
        }
    };

    let t = std::time::Instant::now();
    let a = match vlad::flow::analyze(&mut p, &sources, &vlad::flow::Options::default()) {
        Ok(a) => a,
        Err(e) => {
            eprint!("{}", e.diagnostic.render(&sources, false));
            return 5;
        }
    };
    let t1 = t.elapsed();
    let c = match vlad::specialize::lower(&p, a, &sources) {
        Ok(c) => c,
        Err(_) => {
            eprintln!("lower failed");
            return 6;
        }
    };
    eprintln!("flow {:?} lower {:?} functions {}", t1, t.elapsed() - t1, c.functions.len());
    0
}
