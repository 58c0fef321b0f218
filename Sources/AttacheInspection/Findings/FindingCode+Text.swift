internal import Attache

extension FindingCode {
  package var severity: Severity {
    switch self {
    case .payloadJSON, .payloadSize, .pushTypeConflict, .mutableOutside, .mutableValue, .contentAvailableValue, .silentPriority,
      .apsMissing, .apsAlert, .apsSound, .apsBadge, .apsMedia, .mediaForm, .typeHint:
      .error
    case .envelopeUnopened, .envelopeSpelling, .mutableMissing, .mutableAlert, .contentAvailableAlert, .silentSound, .silentBadge,
      .silentRate, .apsUnknown,
      .apsCategory, .categoryUnknown,
      .urlHTTP, .urlHTTPS, .urlRelative, .urlRefused, .mediaMany, .mediaUnread, .typeUnguessable, .typeContradiction, .actionsMany:
      .warning
    case .mutableBoolean, .contentAvailableBoolean, .actionsLimited: .note
    }
  }

  /// A general description of the problem.
  package var sentence: String {
    switch self {
    case .payloadJSON: "The line is not a JSON object."
    case .payloadSize: "The payload is larger than APNs accepts: 4,096 bytes, or 5,120 for VoIP; FCM, OneSignal and Expo add up to 256."
    case .envelopeUnopened: "The line is an envelope of a push service that attache cannot open."
    case .envelopeSpelling: "A message of FCM has one of its members under both names, and the service accepts one."
    case .pushTypeConflict: "The payload cannot have the push type that its envelope says, so it has no effect."
    case .mutableOutside: "mutable-content is outside aps, where it has no effect."
    case .mutableValue: "mutable-content is not the number 1, so no service extension runs."
    case .mutableBoolean: "mutable-content is true, which Apple's frameworks accept as 1; only the number 1 is documented."
    case .mutableMissing: "The payload names media but does not ask for a service extension."
    case .mutableAlert: "mutable-content without alert text has no effect."
    case .contentAvailableValue: "content-available is not the number 1, so the app is not woken."
    case .contentAvailableBoolean: "content-available is true, which Apple's frameworks accept as 1; only the number 1 is documented."
    case .contentAvailableAlert:
      "content-available accompanies an alert: the system may treat the push as a background one and show nothing."
    case .silentSound: "A silent push has a sound."
    case .silentBadge: "A silent push has a badge."
    case .silentPriority: "A silent push has priority 10, which APNs treats as an error."
    case .silentRate: "One device gets more than three silent pushes within an hour; the system delays or drops the rest."
    case .apsMissing: "aps is missing or not a dictionary, so the push does nothing."
    case .apsAlert: "alert is neither a string nor a dictionary with a text that is shown."
    case .apsUnknown: "The key is not one of Apple's; APNs ignores custom keys in aps."
    case .apsSound: "sound is neither a string nor a dictionary with a name."
    case .apsBadge: "badge is not a whole number of 0 or more."
    case .apsCategory: "category is empty or not a string, so no actions are shown."
    case .categoryUnknown: "The app does not register the category, so no actions are shown."
    case .apsMedia: "A media URL is in aps, where APNs ignores custom keys."
    case .urlHTTP: "App Transport Security refuses plain http."
    case .urlHTTPS: "The vendor's helper downloads only from https URLs."
    case .urlRelative: "The URL is relative, and only the app knows its base."
    case .urlRefused: "attache does not fetch this URL."
    case .mediaMany: "The payload names more than \(MediaReferenceList.maximum) media; attache reads only these."
    case .mediaForm:
      "A value with the media's URL has another type than the vendor's helper reads, or the helper would not load it (--strict-dialects)."
    case .mediaUnread: "A string looks like a media URL, at a place that nothing reads."
    case .typeUnguessable: "The URL has no extension that tells Apple's frameworks the type: it works here but fails on a phone."
    case .typeContradiction: "The payload's type hint contradicts the URL's extension."
    case .typeHint: "The vendor's helper downloads nothing without a type hint."
    case .actionsMany: "There are more than ten actions, and at most ten are shown."
    case .actionsLimited: "There are more than four actions: an iPhone's long look shows four, a banner two."
    }
  }

  /// The sentence in the form that follows a colon.
  var clause: String {
    let text = sentence.dropLast()
    let isName = text.hasPrefix("App")
    return isName ? String(text) : text.prefix(1).lowercased() + text.dropFirst()
  }

  /// How to fix it.
  package var advice: String {
    switch self {
    case .payloadJSON: "Write one complete JSON object per line."
    case .payloadSize: "Shorten it; leave out what the app can fetch by itself."
    case .envelopeUnopened: "Write one payload per line, in the form that the service documents."
    case .envelopeSpelling: "Write it once."
    case .pushTypeConflict: "Write the push type that the finding names, or leave it out: attache derives it from the payload."
    case .mutableOutside: "Move it into aps."
    case .mutableValue, .mutableBoolean: "Write \"mutable-content\": 1."
    case .mutableMissing: "Write \"mutable-content\": 1 into aps, or leave the media out."
    case .mutableAlert: "Give alert a title, a subtitle or a body, or leave mutable-content out."
    case .contentAvailableValue, .contentAvailableBoolean: "Write \"content-available\": 1."
    case .contentAvailableAlert: "Send two pushes: the alert, and a silent one."
    case .silentSound: "Leave sound out, or give the push an alert."
    case .silentBadge: "Leave badge out, or give the push an alert."
    case .silentPriority: "Send it with apns-priority 5."
    case .silentRate: "Send two or three an hour at most; let the app fetch several changes at once."
    case .apsMissing: "Write a dictionary aps that says what the push does; put the app's own keys beside it."
    case .apsAlert: "Write a text, or a dictionary with a title, a subtitle or a body."
    case .apsUnknown: "Move it beside aps, or correct its name."
    case .apsSound: "Write the name of a sound file, default, or a dictionary with critical, name and volume."
    case .apsBadge: "Write a number; 0 removes the badge."
    case .apsCategory: "Write the identifier of a category that the app registers, or leave it out."
    case .categoryUnknown: "Write the identifier of a category in the file of --categories, or add it there and to the app."
    case .apsMedia: "Move it beside aps."
    case .urlHTTP, .urlHTTPS: "Serve the media over https."
    case .urlRelative: "Write an absolute URL."
    case .urlRefused: "Write a public https URL; the finding names the flag that would allow this one, if any."
    case .mediaMany: "Name the one to ten media that the notification shows."
    case .mediaForm: "Write it in the form that the finding shows."
    case .mediaUnread: "Write the URL where attache dialects says that one is read; --media-key adds a place of the payload."
    case .typeUnguessable: "End the URL's path in .jpg, .png, .gif, .mp4, .mp3 and their like, or give a hint."
    case .typeContradiction: "Make the hint and the extension agree."
    case .typeHint: "Write the hint beside the URL; attache dialects shows where for the vendor."
    case .actionsMany, .actionsLimited: "Put the most important two first, and leave the rest to the app."
    }
  }

  /// The address of the documentation of the rule.
  package var source: String {
    let notifications = "https://developer.apple.com/documentation/usernotifications/"
    return switch self {
    // For an envelope, the push service's page is used instead.
    case .envelopeSpelling: "https://protobuf.dev/programming-guides/json"
    case .payloadJSON, .payloadSize, .envelopeUnopened, .apsMissing, .apsAlert, .apsUnknown, .apsSound, .apsBadge, .apsMedia:
      notifications + "generating-a-remote-notification"
    case .mutableOutside, .mutableValue, .mutableBoolean, .mutableMissing, .mutableAlert:
      notifications + "modifying-content-in-newly-delivered-notifications"
    case .contentAvailableValue, .contentAvailableBoolean, .contentAvailableAlert, .silentSound, .silentBadge, .silentRate:
      notifications + "pushing-background-updates-to-your-app"
    case .silentPriority, .pushTypeConflict: notifications + "sending-notification-requests-to-apns"
    case .apsCategory, .categoryUnknown, .actionsMany: notifications + "unnotificationcategory"
    case .actionsLimited: "https://developer.apple.com/documentation/uikit/uiusernotificationactioncontext"
    case .urlHTTP: "https://developer.apple.com/documentation/bundleresources/information-property-list/nsapptransportsecurity"
    // If the dialect has a page of its vendor, that page is used instead.
    case .urlHTTPS, .urlRelative, .urlRefused: "https://www.rfc-editor.org/rfc/rfc3986.html"
    case .mediaMany, .mediaForm, .mediaUnread, .typeHint, .typeUnguessable, .typeContradiction: notifications + "unnotificationattachment"
    }
  }
}
