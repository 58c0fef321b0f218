internal import Attache

/// Checks the lateness in attache's own report: no line is later than the scenario allows.
package enum LatenessCheck {
  package static func findings(_ evidence: Evidence, bound: Duration) -> [Finding] {
    let late = (evidence.report ?? []).filter { $0.lateness.map { $0 > bound } == true }
    let allowed = bound == .zero ? "no lateness is allowed" : "at most \(Milliseconds(bound)) of lateness are allowed"
    return late.map { record in
      Finding(.late, payload: record.line, "\(allowed); the line was written \(Milliseconds(record.lateness ?? .zero)) after its deadline")
    }.abridged
  }
}
