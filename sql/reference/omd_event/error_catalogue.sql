-- The errors of events. omd.error_catalogue says how the templates are filled.

INSERT INTO omd.error_catalogue (sqlstate_code, error_name, message_template, hint_template)
VALUES
(
    -- There is no sink of this code. For example: a sender is started with the code of a sink that
    -- was removed.
    'OM095', 'UnknownSink', 'there is no sink {sink_code}',
    'SELECT sink_code FROM omd_report.event_sinks;'
),
(
    -- A contract has a part that a model can't hold, and none was to be left out. For example: a
    -- data contract has a type of column for which a model has no word.
    'OM096', 'ContractUnfit', 'the contract {contract} can''t be taken over whole: {problem}',
    'Without --strict the parts are listed and left out.'
),
(
    -- The caller doesn't hold the lease of the sink, or confirms what it was not given. For
    -- example: a second sender has taken the sink over.
    'OM195', 'SinkNotHeld', 'sink {sink_code} can''t be confirmed: {problem}',
    'SELECT * FROM omd_event.take_events({sink_code_literal}, {holder_literal});'
),
(
    -- The database is a copy of the one whose events were sent. For example: the database was
    -- restored for tests, and its sender was started.
    'OM295', 'DatabaseCopied', 'nothing is sent: this database is a copy of another one',
    'CALL omd_event.continue_as(''SAME''); or, if the other one goes on, (''NEW'')'
),
(
    -- The transport of OpenLineage does not say whether an event has arrived. For example: a
    -- composite transport goes on after a failure.
    'OM296', 'TransportUnfit', 'the transport {transport} is not used: {problem}',
    'http, file, console, kafka, or composite with continue_on_failure: false'
)
ON CONFLICT (sqlstate_code) DO UPDATE SET
    error_name = excluded.error_name,
    message_template = excluded.message_template,
    hint_template = excluded.hint_template
WHERE (
    error_catalogue.error_name,
    error_catalogue.message_template,
    error_catalogue.hint_template
) IS DISTINCT FROM (
    excluded.error_name,
    excluded.message_template,
    excluded.hint_template
);
