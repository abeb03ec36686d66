//! Pages of documentation: the blocks in them, and what their commands print.

use super::{TOOLS_LIMIT, run_command};
use std::path::Path;
use std::process::Command;

/// A block between fences.
pub struct Block {
    /// What stands behind the first fence.
    pub fence: String,
    /// The number of its first line.
    pub line: usize,
    pub text: String,
}

/// The blocks of a page.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(fence) = line.strip_prefix("```") else { continue };
        let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
        let text = inside.flat_map(|line| [line, "\n"]).collect();
        found.push(Block { fence: fence.to_string(), line: number + 2, text });
    }
    found
}

/// What a command of a shell prints in a folder, standard error included, and its exit code if that is not 0. It finds
/// `vlad`, and the programs of these other folders.
pub fn shell(folder: &Path, programs: &[&Path], command: &str) -> String {
    let own = Path::new(env!("CARGO_BIN_EXE_vlad")).parent().expect("it stands in a folder");
    let usual = std::env::var_os("PATH").expect("there is a path");
    let all = [own].into_iter().chain(programs.iter().copied()).map(Path::to_path_buf);
    let path = std::env::join_paths(all.chain(std::env::split_paths(&usual))).expect("names of folders have no colons");
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec 2>&1; {command}")]).current_dir(folder);
    shell.env("PATH", path).env("NO_COLOR", "1").env("HOME", folder).env_remove("CC");
    shell.env_remove("XDG_CACHE_HOME").env_remove("VLAD_CACHE");
    // `rustc` is found by what rustup keeps at home.
    if let (None, Some(home)) = (std::env::var_os("RUSTUP_HOME"), std::env::var_os("HOME")) {
        shell.env("RUSTUP_HOME", Path::new(&home).join(".rustup"));
    }
    let outcome = run_command(shell, "", TOOLS_LIMIT);
    let code = outcome.code.unwrap_or(-1);
    outcome.output + &if code == 0 { String::new() } else { format!("[exit code {code}]\n") }
}

/// Runs what a page of the tree shows, and compares. In a block fenced with `console`, a line `$ command` is a command,
/// and what follows is what it prints; a line `[exit code 1]` behind it is its exit code, if that is not 0. All
/// commands of a page run in order in one new folder. A block fenced with a language and the name of a file is a file
/// that stands there.
pub fn commands_do_what_is_said(page: &str, programs: &[&Path]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page);
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{page}: {error}"));
    let folder = super::folder(&[]);
    let mut commands = 0;
    for Block { fence, line, text } in blocks(&text) {
        if let Some((_, file)) = fence.split_once(' ') {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("the name is relative to the folder"))
                .expect("it can be made");
            std::fs::write(path, &text).expect("files can be written");
        } else if fence == "console" {
            for step in text.split("$ ").skip(1) {
                let (command, expected) = step.split_once('\n').expect("a command ends its line");
                commands += 1;
                assert_eq!(shell(folder.path(), programs, command), expected, "{page}:{line}: {command}");
            }
        }
    }
    assert!(commands > 0, "{page} has no commands");
}
