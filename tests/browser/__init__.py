"""What people see and do: the real processes, a scripted model, and a real Chromium.

The package has a marker file of its own so that its fixtures end with it: playwright keeps
an event loop running in the main thread, in the way of any test that wants one for itself.
"""
