internal import AttacheQueue

extension PostgreSQLQueue {
  /// Drops the schema of a queue with everything in it.
  static func remove(_ address: PostgreSQLAddress) throws(QueueError) {
    let pool = SessionPool(address.servers, name: address.description, timeLimit: .zero)
    defer { pool.close() }
    _ = try pool.callOnce { attempt throws(SessionError) in
      try attempt.run([Execution(Statement("", "DROP SCHEMA IF EXISTS \(address.schema) CASCADE"))], isSynchronous: true)
    }
  }
}
