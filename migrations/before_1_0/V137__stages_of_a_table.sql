-- V137: decision: which stages read a table is asked for after each commit. Applied once.

CREATE INDEX ix_stage_source_table ON omd_decision.stage_source (table_code, stage_id);
