internal import Attache

extension Envelope.Form {
  /// The address of the form's documentation.
  var source: String {
    switch self {
    case .fcm: "https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages"
    case .fcmLegacy: "https://firebase.google.com/docs/cloud-messaging/migrate-v1"
    case .sns: "https://docs.aws.amazon.com/sns/latest/dg/sns-send-custom-platform-specific-payloads-mobile-devices.html"
    case .gorush: "https://github.com/appleboy/gorush/blob/master/notify/notification.go"
    case .oneSignal: "https://documentation.onesignal.com/reference/push-channel-properties"
    case .expo: "https://docs.expo.dev/push-notifications/sending-notifications/#message-request-format"
    case .path: FindingCode.envelopeUnopened.source
    }
  }
}
