/// The metrics of what a process does.
package protocol MetricsSource: AnyObject, Sendable {
  /// Why the process is paused; nil when it is not.
  var pause: String? { get }
  func write(to text: inout MetricsText)
}
