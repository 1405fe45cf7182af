//! The `partita` command.

mod args;
mod cmd;
mod console;
mod failure;
mod fit_spec;
mod interrupt;
mod outputs;
mod picture;
mod portrait;
mod progress;
mod recommendation;
mod spelling;
mod summary;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use std::process::ExitCode;

/// A network's tensors are allocated and freed in every step, and the system's allocator returns their pages each time.
#[cfg(feature = "deep")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let code = failure::code(&error);
            if let Some(kept) = failure::kept(&error).filter(|_| code == failure::INTERRUPTED) {
                eprintln!("{}", kept.message(&spelling::flag));
            }
            match code {
                failure::INTERRUPTED => eprintln!("partita: interrupted; no result was written"),
                _ => eprintln!("partita: {}", failure::message(&error)),
            }
            ExitCode::from(code)
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<()> {
    interrupt::watch()?;
    if cli.quiet {
        console::be_quiet();
    }
    match cli.command {
        Command::Fit(args) => cmd::fit::run(&args),
        Command::Update(args) => cmd::update::run(&args),
        Command::Predict(args) => cmd::predict::run(&args),
        Command::Evaluate(args) => cmd::evaluate::run(&args),
        Command::Explain(args) => cmd::explain::run(&args),
        Command::Export(args) => cmd::export::run(&args),
        Command::Compare(args) => cmd::compare::run(&args),
        Command::ChooseK(args) => cmd::choose_k::run(&args),
        Command::Reproduce(args) => cmd::reproduce::run(&args),
        Command::Demo(args) => cmd::demo::run(&args),
        Command::Weights { command } => cmd::weights::run(&command),
        Command::Embed(args) => cmd::embed::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "partita", &mut script);
            Ok(outputs::print(&String::from_utf8(script)?)?)
        }
    }
}
