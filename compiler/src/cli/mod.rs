//! The subcommands of the vlad program.
