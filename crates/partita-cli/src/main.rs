//! The `partita` command.

mod args;
mod cmd;
mod failure;
mod input;
mod picture;
mod progress;
mod summary;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("partita: {error:#}");
            ExitCode::from(failure::code(&error))
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        Command::Fit(args) => cmd::fit::run(&args),
        Command::Predict(args) => cmd::predict::run(&args),
        Command::Evaluate(args) => cmd::evaluate::run(&args),
        Command::Explain(args) => cmd::explain::run(&args),
        Command::Demo(args) => cmd::demo::run(&args),
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "partita", &mut std::io::stdout());
            Ok(())
        }
    }
}
