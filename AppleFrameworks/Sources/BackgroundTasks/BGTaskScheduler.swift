@_exported import Groundwork

// The names of background tasks, for delegates that schedule them. No task runs.

open class BGTask: NSObject, @unchecked Sendable {
  public let identifier: String
  open var expirationHandler: (() -> Void)?

  init(identifier: String) {
    self.identifier = identifier
    super.init()
  }

  open func setTaskCompleted(success: Bool) {}
}

open class BGAppRefreshTask: BGTask, @unchecked Sendable {}
open class BGProcessingTask: BGTask, @unchecked Sendable {}

open class BGTaskRequest: NSObject {
  public let identifier: String
  open var earliestBeginDate: Date?

  init(name: String) {
    identifier = name
    super.init()
  }
}

open class BGAppRefreshTaskRequest: BGTaskRequest {
  public init(identifier: String) {
    super.init(name: identifier)
  }
}

open class BGProcessingTaskRequest: BGTaskRequest {
  open var requiresNetworkConnectivity = false
  open var requiresExternalPower = false

  public init(identifier: String) {
    super.init(name: identifier)
  }
}

open class BGTaskScheduler: NSObject, @unchecked Sendable {
  public static let shared = BGTaskScheduler()

  @discardableResult
  open func register(
    forTaskWithIdentifier identifier: String, using queue: DispatchQueue?, launchHandler: @escaping (BGTask) -> Void
  ) -> Bool { true }

  open func submit(_ taskRequest: BGTaskRequest) throws {
    HostLink.note(.accepted, "a background task was scheduled: \(taskRequest.identifier)")
  }

  open func cancel(taskRequestWithIdentifier identifier: String) {}
  open func cancelAllTaskRequests() {}
}
