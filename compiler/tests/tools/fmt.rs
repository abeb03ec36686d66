//! `vlad fmt`: which files it changes, what it prints, its exit codes.

use crate::{folder, text, vlad};
use std::fs;

const UGLY: &str = "(define (f x)(if (> x 0)\n(* x x)  0))\n";
const NICE: &str = "(define (f x)\n  (if (> x 0)\n      (* x x) 0))\n";
const WRONG: &str = "(define (f x\n";

#[test]
fn files_are_rewritten_and_those_with_mistakes_stay() {
    let folder = folder(&[("ugly.vlad", UGLY), ("wrong.vlad", WRONG), ("nice.vlad", NICE)]);
    let path = |name: &str| folder.path().join(name);
    let before = fs::metadata(path("nice.vlad")).and_then(|metadata| metadata.modified()).expect("it has a date");
    let (code, out, err) = vlad(&folder, &["fmt", "wrong.vlad", "ugly.vlad", "nice.vlad"], "");
    assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
    assert!(err.contains("V0102") && err.contains("wrong.vlad:1:9"), "{err}");
    assert_eq!([text(&path("ugly.vlad")), text(&path("wrong.vlad"))], [NICE, WRONG]);
    let after = fs::metadata(path("nice.vlad")).and_then(|metadata| metadata.modified()).expect("it has a date");
    assert_eq!(before, after, "what is formatted is not written");
    assert_eq!(fs::read_dir(&folder).expect("it exists").count(), 3, "nothing else is left");
}

#[test]
fn checking_names_files_and_changes_nothing() {
    let folder = folder(&[("ugly.vlad", UGLY), ("nice.vlad", NICE)]);
    let (code, out, err) = vlad(&folder, &["fmt", "--check", "ugly.vlad", "nice.vlad"], "");
    assert_eq!((code, out.as_str(), err.as_str()), (Some(1), "ugly.vlad\n", ""));
    assert_eq!(text(&folder.path().join("ugly.vlad")), UGLY);
    assert_eq!(vlad(&folder, &["fmt", "--check", "nice.vlad"], "").0, Some(0));
    assert_eq!(vlad(&folder, &["fmt", "--check", "-"], UGLY).0, Some(1));
    assert_eq!(vlad(&folder, &["fmt", "--check", "-"], NICE).0, Some(0));
}

#[test]
fn standard_input_goes_to_standard_output() {
    let folder = folder(&[]);
    assert_eq!(vlad(&folder, &["fmt", "-"], UGLY), (Some(0), NICE.to_string(), String::new()));
    let (code, out, err) = vlad(&folder, &["fmt", "-"], WRONG);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("<stdin>:1:9"), "{err}");
    assert_eq!(vlad(&folder, &["fmt", "-"], ""), (Some(0), String::new(), String::new()));
}

#[test]
fn wrong_usage_has_exit_code_2() {
    let folder = folder(&[]);
    for arguments in [&["fmt"][..], &["fmt", "no-such-file.vlad"], &["fmt", "."]] {
        let (code, _, err) = vlad(&folder, arguments, "");
        assert_eq!(code, Some(2), "{arguments:?}: {err}");
    }
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder(&[("real.vlad", UGLY)]);
    let (real, link) = (folder.path().join("real.vlad"), folder.path().join("link.vlad"));
    fs::set_permissions(&real, fs::Permissions::from_mode(0o755)).expect("it is ours");
    symlink("real.vlad", &link).expect("links can be made");
    assert_eq!(vlad(&folder, &["fmt", "link.vlad"], "").0, Some(0));
    assert_eq!(text(&real), NICE);
    assert!(link.is_symlink());
    assert_eq!(fs::metadata(&real).expect("it exists").permissions().mode() & 0o777, 0o755);
}
