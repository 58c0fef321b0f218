/// What a ``MetricsServer`` serves.
package protocol MetricsPages: AnyObject, Sendable {
  /// All metrics, in Prometheus' text format.
  var text: String { get }
  /// Whether the process makes progress. If it does not, restart it.
  var liveness: ProcessHealth { get }
  /// Whether the process does its work.
  var readiness: ProcessHealth { get }
}

/// The result of a health check.
package enum ProcessHealth: Hashable, Sendable {
  case good
  /// Unhealthy; the text says why.
  case bad(String)
}
