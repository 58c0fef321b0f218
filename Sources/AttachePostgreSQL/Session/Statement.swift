/// A statement that each session prepares once.
struct Statement: Sendable {
  /// The name of the prepared statement, unique among the statements of a queue.
  let name: StaticString
  let sql: String

  init(_ name: StaticString, _ sql: String) {
    (self.name, self.sql) = (name, sql)
  }
}

/// One execution of a statement.
struct Execution {
  let statement: Statement
  let parameters: [Parameter]

  init(_ statement: Statement, _ parameters: [Parameter]) {
    (self.statement, self.parameters) = (statement, parameters)
  }

  init(_ statement: Statement, _ parameters: Parameter...) {
    (self.statement, self.parameters) = (statement, parameters)
  }
}
