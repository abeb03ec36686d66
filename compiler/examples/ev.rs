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
    let stdin = std::io::stdin();
    let mut out = std::io::stdout();
    let r = vlad::core::eval::run(&mut p, &sources, &Default::default(), &mut stdin.lock(), &mut out);
    match r {
        Ok(_) => 0,
        Err(e) => {
            eprint!("{}", e.diagnostic.render(&sources, false));
            e.exit_code
        }
    }
}
