//! What the user reads when there is no executable.

use std::io;
use std::path::PathBuf;
use vlad::base::SourceMap;
use vlad::codegen::Error;

#[test]
fn every_error_has_a_message() {
    let errors = [
        Error::Bug { name: "f.7".into(), message: "uses value v3 from non-dominating inst".into() },
        Error::Target("Support for this target has not been implemented".into()),
        Error::NoRunTime { architecture: "aarch64".into() },
        Error::TooLarge { what: "`wide` has 100000000 words".into() },
        Error::NoLinker { command: "cc".into(), cause: io::Error::other("not found") },
        Error::Linker { command: "cc -o program program.o".into(), output: "ld: cannot find -lm\n".into() },
        Error::Write { path: PathBuf::from("/program"), cause: io::ErrorKind::PermissionDenied.into() },
    ];
    let text: Vec<String> = errors.iter().map(|error| error.to_diagnostic().render(&SourceMap::new(), false)).collect();
    insta::assert_snapshot!(text.join("\n"));
}
