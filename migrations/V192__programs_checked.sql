-- phase: concurrent
-- V192: each Module has the engine of its kind. Applied once.

ALTER TABLE omd.module VALIDATE CONSTRAINT ck_module_kind_engine;
