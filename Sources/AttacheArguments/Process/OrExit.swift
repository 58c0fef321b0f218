internal import ArgumentParser
package import Logging

/// Runs `body`. Logs its error and throws the exit status `status`.
package func orExit<Value>(_ log: Logger, _ status: Int32, _ body: () throws -> Value) throws -> Value {
  do {
    return try body()
  } catch {
    log.error("\(error)")
    throw ExitCode(status)
  }
}
