-- V105: events: which columns of which tables the columns of transform views come from. Applied
-- once.

CREATE TABLE omd_event.view_columns (
    view_code text NOT NULL,
    view_text text NOT NULL,
    fields jsonb NOT NULL,
    parsed_datetime timestamptz NOT NULL DEFAULT clock_timestamp(),
    parsed_by text NOT NULL DEFAULT session_user,
    CONSTRAINT pk_view_columns PRIMARY KEY (view_code)
);
COMMENT ON TABLE omd_event.view_columns IS
'From which columns those of a transform view come, as a parser has found it.';
COMMENT ON COLUMN omd_event.view_columns.view_code IS 'The view, schema.name.';
COMMENT ON COLUMN omd_event.view_columns.view_text IS
'Its text when it was parsed: what was found counts for this text only.';
COMMENT ON COLUMN omd_event.view_columns.fields IS
'An object: of each column a list of objects with table, column and subtype (IDENTITY, '
'TRANSFORMATION or AGGREGATION).';
COMMENT ON COLUMN omd_event.view_columns.parsed_datetime IS 'When it was parsed.';
COMMENT ON COLUMN omd_event.view_columns.parsed_by IS 'Who had it parsed.';
