package import Attache
package import Logging

extension SurvivedFailures {
  /// Logs the failures as warnings, each on a thread of its own: a log that blocks must not delay a
  /// loop.
  package func log(to log: Logger) {
    report { sentence in
      do throws(SystemError) {
        try Thread.start("notice") { log.warning("\(sentence)") }.detach()
        return true
      } catch {
        return false
      }
    }
  }
}
