//! The fields of a job as they are typed here.

use partita_job::Field;

/// How a field is typed.
pub fn flag(field: Field) -> String {
    match field {
        Field::Data => "DATA".to_owned(),
        Field::K => "-k".to_owned(),
        field => format!("--{}", field.name().replace('_', "-")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;

    /// Options that only a build with networks has.
    fn is_of_networks(field: Field) -> bool {
        let network = serde_json::to_value(partita_job::NetworkSpec::default()).unwrap();
        let of_resources = [Field::Checkpoint, Field::Resume, Field::Device, Field::Metrics];
        network.get(field.name()).is_some() || of_resources.contains(&field)
    }

    #[test]
    fn every_field_is_spelled_as_it_is_typed() {
        let cli = Cli::command();
        let fit = cli.find_subcommand("fit").unwrap();
        for &field in Field::ALL {
            let typed = flag(field);
            let known = fit.get_arguments().any(|argument| {
                let long = argument.get_long().map(|name| format!("--{name}"));
                let short = argument.get_short().map(|name| format!("-{name}"));
                let place = argument.get_value_names().map(|names| names[0].to_string());
                [long, short, place].contains(&Some(typed.clone()))
            });
            assert!(known || (is_of_networks(field) && cfg!(not(feature = "deep"))), "{field:?}: {typed}");
        }
    }
}
