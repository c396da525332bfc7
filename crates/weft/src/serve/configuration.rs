//! Effective configuration of a server: command line, environment and file.

use std::ffi::OsString;
use std::fmt;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, FromArgMatches};
use weft_server::{OperatorConfig, Reconfiguration, WebhookError, WebhookSecret, WebhookTarget};

use super::args::ServeArgs;
use super::file::{Completed, SECRETS, definition, keys, words};
use crate::exit::Failure;
use crate::state::state_folder;
use crate::values;

/// Options that a running server applies; those in neither list need a restart.
const RELOADED: [&str; 10] = [
    "allow-origin",
    "drain",
    "log",
    "log-format",
    "max-rooms",
    "max-participants",
    "max-participants-per-token",
    "max-connections",
    "max-connections-per-room",
    "max-connections-per-address",
];
/// Options that are compared with the content of their files.
const BY_CONTENT: [&str; 5] = [
    "admin-token-file",
    "ice-server",
    "token",
    "token-file",
    "webhook-secret-file",
];

/// Effective configuration. `args.page.token` includes a token from a file.
pub struct Configuration {
    pub args: ServeArgs,
    admin_token: Option<String>,
    webhook_secret: Option<WebhookSecret>,
    /// Options in the order of `--help`.
    options: Vec<Effective>,
}

/// Option with its effective value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Effective {
    name: String,
    form: Form,
    /// Values as on the command line; `None` if the option is not set.
    values: Option<Vec<String>>,
    from: &'static str,
}

/// Form of an option in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Flag,
    One,
    List,
}

/// Names of options whose effective values differ.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Options that the running server applies.
    pub changed: Vec<String>,
    /// Options that need a restart.
    pub restart: Vec<String>,
}

impl Configuration {
    /// Reads the command line of `weft serve`, its file and files with secrets.
    pub fn load(line: Vec<OsString>) -> Result<Configuration, Failure> {
        let completed = Completed::read(line)?;
        let place = match &completed.file {
            Some(file) => format!("with the options of {}: ", file.display()),
            None => String::new(),
        };
        let wrong = |error: clap::Error| Failure::usage(format!("{place}{}", words(&error)));
        let definition = definition();
        let matches = definition
            .clone()
            .try_get_matches_from(&completed.line[1..]);
        let matches = matches.map_err(wrong)?;
        let mut args = ServeArgs::from_arg_matches(&matches).map_err(wrong)?;
        if let Some(path) = &args.token_file {
            args.page.token = Some(values::secret_file("--token-file", path, values::token)?);
        }
        let operator = &args.operator;
        let admin_token = operator.admin_token_file.as_deref();
        let admin_token = admin_token
            .map(|path| values::secret_file("--admin-token-file", path, values::admin_token));
        let admin_token = admin_token.transpose()?;
        let webhook_secret = operator.webhook_secret_file.as_deref();
        let webhook_secret = webhook_secret.map(|path| {
            values::secret_file("--webhook-secret-file", path, |text| {
                text.parse()
                    .map_err(|error: WebhookError| error.to_string())
            })
        });
        let webhook_secret = webhook_secret.transpose()?;
        let options = keys(&definition).map(|(name, option)| {
            let from_file = completed.from_file.contains(name);
            Effective::read(name, option, &matches, from_file)
        });
        let options = options.collect();
        Ok(Configuration {
            args,
            admin_token,
            webhook_secret,
            options,
        })
    }

    /// Returns the differences to a later configuration.
    pub fn changes(&self, later: &Configuration) -> Changes {
        let mut changes = Changes::default();
        for (before, after) in self.options.iter().zip(&later.options) {
            let name = before.name.clone();
            match (before.values != after.values, &*name) {
                (true, known) if RELOADED.contains(&known) => changes.changed.push(name),
                (true, known) if !BY_CONTENT.contains(&known) => changes.restart.push(name),
                _ => {}
            }
        }
        if self.args.ice_server != later.args.ice_server {
            changes.changed.push("ice-server".to_owned());
        }
        if self.admin_token != later.admin_token {
            changes.changed.push("admin-token-file".to_owned());
        }
        if self.webhook_secret != later.webhook_secret {
            changes.restart.push("webhook-secret-file".to_owned());
        }
        match (&self.args.page.token, &later.args.page.token) {
            (before, after) if before == after => {}
            (Some(_), Some(_)) => changes.changed.push("token".to_owned()),
            _ => changes.restart.push("token".to_owned()),
        }
        changes
    }

    /// Applies the options that a running server can change.
    pub fn take_over(&mut self, new: Configuration) {
        for (own, new) in self.options.iter_mut().zip(new.options) {
            let name = &*own.name;
            if RELOADED.contains(&name) || BY_CONTENT.contains(&name) {
                *own = new;
            }
        }
        let before = self.args.page.token.take();
        self.args = new.args;
        self.admin_token = new.admin_token;
        if before.is_none() || self.args.page.token.is_none() {
            self.args.page.token = before;
        }
    }

    /// Returns the operator interfaces of a server that starts.
    pub fn operator(&self) -> OperatorConfig {
        let webhook = self
            .args
            .operator
            .webhook
            .clone()
            .zip(self.webhook_secret.clone());
        OperatorConfig {
            metrics: self.args.operator.metrics,
            socket_folder: state_folder(),
            admin_token: self.admin_token.clone(),
            metrics_rooms: self.args.operator.metrics_rooms,
            webhook: webhook.map(|(url, secret)| WebhookTarget { url, secret }),
        }
    }

    /// Returns the settings for a running server.
    pub fn reconfiguration(&self) -> Reconfiguration {
        Reconfiguration {
            admin_token: self.admin_token.clone(),
            token: self.args.page.token.clone(),
            allowed_origins: self.args.allow_origin.clone(),
            ice_servers: self.args.ice_server.clone(),
            limits: self.args.limits.limits(),
        }
    }
}

impl Effective {
    fn read(name: &str, option: &Arg, matches: &ArgMatches, from_file: bool) -> Effective {
        let id = option.get_id().as_str();
        let values = matches.get_raw(id).map(|values| {
            let values = values.map(|value| value.to_string_lossy().into_owned());
            values.collect()
        });
        let form = match option.get_action() {
            ArgAction::SetTrue => Form::Flag,
            ArgAction::Append => Form::List,
            _ => Form::One,
        };
        let from = match matches.value_source(id) {
            _ if from_file => "file",
            Some(ValueSource::EnvVariable) => "environment",
            Some(ValueSource::CommandLine) => "command line",
            _ => "default",
        };
        Effective {
            name: name.to_owned(),
            form,
            values,
            from,
        }
    }
}

/// Formats the configuration as a file, without the secrets.
impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.options.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl fmt::Display for Effective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Effective {
            name, form, from, ..
        } = self;
        let Some(values) = &self.values else {
            return write!(f, "# {name} is not set");
        };
        if SECRETS.contains(&&**name) {
            return write!(f, "# {name} is set and not shown ({from})");
        }
        let quoted = |value: &String| match value.parse::<u64>() {
            Ok(number) if number.to_string() == *value => value.clone(),
            _ => serde_json::Value::from(value.as_str()).to_string(),
        };
        let written = match (form, &values[..]) {
            (Form::Flag, values) => (values != ["false"]).to_string(),
            (Form::One, []) => "true".to_owned(),
            (Form::One, [value, ..]) => quoted(value),
            (Form::List, values) => {
                let values: Vec<String> = values.iter().map(quoted).collect();
                format!("[{}]", values.join(", "))
            }
        };
        write!(f, "{name} = {written} # {from}")
    }
}

#[cfg(test)]
mod tests;
