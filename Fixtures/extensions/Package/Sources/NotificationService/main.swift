import ExtensionRuntime

ExtensionMain.run { NotificationService() }
