//! The program `ibid`.

fn main() -> std::process::ExitCode {
    ibid::cli::main()
}
