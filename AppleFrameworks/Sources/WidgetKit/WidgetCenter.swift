import Groundwork

/// The widgets of the app. There are none here.
open class WidgetCenter: @unchecked Sendable {
  public static let shared = WidgetCenter()

  private init() {}

  open func reloadAllTimelines() {
    HostLink.note(.accepted, "the timelines of all widgets were to be loaded anew")
  }

  open func reloadTimelines(ofKind kind: String) {
    HostLink.note(.accepted, "the timelines of the widgets \(kind) were to be loaded anew")
  }
}
