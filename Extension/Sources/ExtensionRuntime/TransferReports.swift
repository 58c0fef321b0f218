import CGroundwork
import Groundwork

/// Tells the host of each transfer of URLSession.
enum TransferReports {
  static func begin() {
    groundwork_set_observer { transfer in
      let transfer = transfer.pointee
      var report: [String: Any] = ["transfer": transfer.number, "isEnd": transfer.is_end, "url": TransferReports.text(transfer.url)]
      if transfer.is_end {
        report["status"] = transfer.status
        report["type"] = TransferReports.text(transfer.type)
        report["bytes"] = transfer.bytes
        report["microseconds"] = transfer.microseconds
        report["code"] = transfer.code
        report["address"] = TransferReports.text(transfer.address)
      }
      HostLink.send(.transfer, report)
    }
  }

  fileprivate static func text(_ pointer: UnsafePointer<CChar>?) -> String {
    pointer.map { String(cString: $0) } ?? ""
  }

  /// Applies what the host says about the network.
  ///
  /// - Parameter settings: `roots`, `connectTo` and `schemes` as in `groundwork_network`, `publicOnly`, and the
  ///   networks `nets` that are allowed beside public ones.
  static func apply(_ settings: [String: Any]) {
    func copy(_ name: String) -> UnsafePointer<CChar>? {
      (settings[name] as? String).flatMap { strdup($0) }.map { UnsafePointer($0) }
    }
    for net in settings["nets"] as? [String] ?? [] { _ = groundwork_allow_net(net) }
    groundwork_set_network(
      groundwork_network(
        roots: copy("roots"), connect_to: copy("connectTo"), schemes: copy("schemes"),
        public_only: (settings["publicOnly"] as? NSNumber)?.boolValue ?? false))
  }
}
