//! Scripts and configuration of the documentation.

use super::fixture::{Namespace, Program};

/// Running script.
pub(crate) struct Script {
    _file: tempfile::NamedTempFile,
    _program: Program,
}

impl Script {
    pub(crate) fn start(namespace: &Namespace, text: &str, arguments: &[&str]) -> Script {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("it is written");
        let mut python = namespace.command("python3");
        let program = Program::start(python.arg(file.path()).args(arguments));
        Script {
            _file: file,
            _program: program,
        }
    }
}

/// Returns the code block of the page that starts with these words.
pub(crate) fn documented<'a>(page: &'a str, start: &str) -> &'a str {
    let block = page.split("```").find(|block| {
        let code = block.split_once('\n').map_or("", |(_, code)| code);
        code.starts_with(start)
    });
    let (_, code) = block
        .and_then(|block| block.split_once('\n'))
        .expect("a block");
    code
}
